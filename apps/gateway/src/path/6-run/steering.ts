import type { AgentMessage } from "@signalbox/agent-core";
import type { Incoming } from "@signalbox/attachments";
import { speakerOf } from "@signalbox/channel";
import type { MessageContext } from "@signalbox/prompt";
import type { InboxId } from "@signalbox/store";
import type { Tracer } from "../../traces.ts";
import { messagesIn, type QueuedMessage } from "../4-queue/message.ts";
import { filesOf } from "../5-prepare/files-of.ts";
import type { ReadAlong } from "../5-prepare/inbound-context.ts";
import type { PreparedRun } from "../5-prepare/prepare.ts";
import { speakersOf } from "../5-prepare/prepare.ts";
import type { UserMessages } from "../5-prepare/user-messages.ts";

export interface SteeringPorts {
  readonly userMessages: UserMessages;
  readonly contextOf: (message: QueuedMessage, read: ReadAlong) => Promise<MessageContext>;
  readonly incoming: Pick<Incoming, "show">;
  readonly tracer: Tracer;
}

/** What comes to a run while it goes on. */
export interface Steering {
  /** What the model is told next: messages that join the run, and which of those it has read were deleted. */
  next(): Promise<readonly AgentMessage[]>;
  /** Messages that joined since the last call and were not deleted before they became the run's. */
  takeJoined(): readonly InboxId[];
}

export function createSteering(ports: SteeringPorts, run: PreparedRun): Steering {
  const { messages, handle, tools, taint, contexts } = run;
  const joinedSince: QueuedMessage[] = [];
  /** What the model was told and would answer. */
  let told: readonly QueuedMessage[] = [...messages];

  const takenBack = (): readonly AgentMessage[] => {
    const gone = told.filter(({ id }) => handle.recalled.has(id));
    told = told.filter((message) => !gone.includes(message));
    return gone.length > 0 ? [ports.userMessages.takenBack(gone)] : [];
  };

  /** What a message carries counts for the run as if it had begun with it. */
  const read = async (joining: readonly QueuedMessage[]): Promise<readonly ReadAlong["media"][]> => {
    for (const { id, stored } of joining) {
      tools.heard(stored.event, stored.role, speakerOf(stored.event));
      ports.tracer.note(id, "lane", `steers the running turn ${run.runId}`);
    }
    const media = await ports.incoming.show(joining.map(filesOf), run.agentModel.model.input);
    if (media.some(({ untrusted }) => untrusted)) tools.tainted("file");
    await taint.keep({ sources: tools.taint(), speakers: speakersOf(joining) });
    return media;
  };

  return {
    async next() {
      const { items, summarised } = handle.takeSteering();
      const short = messagesIn(summarised);
      const joining = messagesIn(items);
      const notes = takenBack();
      if (short.length + joining.length === 0) return notes;
      told = [...told, ...short, ...joining];
      messages.push(...short, ...joining);
      joinedSince.push(...short, ...joining);
      // The note of each attachment is made before its bytes are shown and let go.
      const spoken = await ports.userMessages.of(joining);
      const media = await read([...short, ...joining]);
      for (const [index, message] of joining.entries()) {
        const said = spoken[index];
        const own = media[short.length + index] ?? { blocks: [], files: [] };
        if (said !== undefined)
          contexts.add(
            said,
            await ports.contextOf(message, { pages: [], media: own, history: [], memory: [] }),
          );
      }
      return [...notes, ...(short.length > 0 ? [ports.userMessages.summary(short)] : []), ...spoken];
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
