import type { AgentMessage, UserMessage } from "@signalbox/agent-core";
import type { Incoming } from "@signalbox/attachments";
import { speakerOf } from "@signalbox/channel";
import type { InboxId } from "@signalbox/store";
import type { Tracer } from "../../traces.ts";
import { messagesIn, type QueuedMessage } from "../4-queue/message.ts";
import { filesOf } from "../5-prepare/files-of.ts";
import { broughtWith, NOTHING_READ, type ReadAlong } from "../5-prepare/inbound-context.ts";
import type { PreparedRun } from "../5-prepare/prepare.ts";
import { speakersOf } from "../5-prepare/prepare.ts";
import type { UserMessages } from "../5-prepare/user-messages.ts";

export interface SteeringPorts {
  readonly userMessages: UserMessages;
  readonly incoming: Pick<Incoming, "show">;
  readonly tracer: Tracer;
}

/** What reaches a run while it works. */
export interface Steering {
  /** What the model is told next: messages that join the run, and which of those it has read were deleted. */
  next(): Promise<readonly AgentMessage[]>;
  /** Messages that joined since the last call and were not deleted before they became the run's. */
  takeJoined(): readonly InboxId[];
}

export function createSteering(ports: SteeringPorts, run: PreparedRun): Steering {
  const { messages, handle } = run;
  const joinedSince: QueuedMessage[] = [];
  /** What the model was told and would answer. */
  let told: readonly QueuedMessage[] = [...messages];

  const takenBack = (): readonly AgentMessage[] => {
    const gone = told.filter(({ id }) => handle.recalled.has(id));
    told = told.filter((message) => !gone.includes(message));
    return gone.length > 0 ? [ports.userMessages.takenBack(gone)] : [];
  };

  return {
    async next() {
      const { items, summarised } = handle.takeSteering();
      const short = messagesIn(summarised);
      const whole = messagesIn(items);
      const notes = takenBack();
      const joining = [...short, ...whole];
      if (joining.length === 0) return notes;
      told = [...told, ...joining];
      messages.push(...joining);
      joinedSince.push(...joining);
      return [...notes, ...(await said(ports, run, { short, whole }))];
    },
    takeJoined() {
      const ids: InboxId[] = [];
      for (const message of joinedSince.splice(0)) {
        if (!handle.recalled.has(message.id)) ids.push(message.id);
        else messages.splice(messages.indexOf(message), 1);
      }
      return ids;
    },
  };
}

/** Messages that join a run, in the words that its model is told. */
async function said(
  ports: SteeringPorts,
  run: PreparedRun,
  { short, whole }: { readonly short: readonly QueuedMessage[]; readonly whole: readonly QueuedMessage[] },
): Promise<readonly UserMessage[]> {
  // The note of each attachment is made before its bytes are shown and let go.
  const spoken = await ports.userMessages.of(whole);
  const media = await read(ports, run, [...short, ...whole]);
  const told = spoken.map((words, index) => {
    const own = media[short.length + index] ?? NOTHING_READ.media;
    const message = withFiles(words, own);
    run.contexts.add(message, { text: "", blocks: own.blocks });
    return message;
  });
  return short.length > 0 ? [ports.userMessages.summary(short), ...told] : told;
}

/** What a message carries counts for the run as if it had begun with it. */
async function read(
  { tracer, incoming }: SteeringPorts,
  { runId, agentModel, tools, taint }: PreparedRun,
  joining: readonly QueuedMessage[],
): Promise<readonly ReadAlong["media"][]> {
  for (const { id, stored } of joining) {
    tools.addMessage(stored.event, stored.role, speakerOf(stored.event));
    tracer.note(id, "lane", `steers the running turn ${runId}`);
  }
  const media = await incoming.show(joining.map(filesOf), agentModel.model.input);
  if (media.some(({ untrusted }) => untrusted)) tools.addTaint("file");
  await taint.keep({ sources: tools.taint(), speakers: speakersOf(joining) });
  return media;
}

/** Its files were read before it is on record, so what they say stands in its own context. */
function withFiles(words: UserMessage, media: ReadAlong["media"]): UserMessage {
  const files = broughtWith({ ...NOTHING_READ, media });
  const context = [words.context ?? "", files].filter((part) => part !== "").join("\n\n");
  return context === "" ? words : { ...words, context };
}
