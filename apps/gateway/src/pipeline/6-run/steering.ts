import type { AgentMessage, UserMessage } from "@signalbox/agent-core";
import { getSpeakerKey } from "@signalbox/channel";
import type { InboxId } from "@signalbox/store";
import type { GatewayContext } from "../../context.ts";
import { messagesIn, type QueuedMessage } from "../../messages/queued-message.ts";
import { formatReadContent, NOTHING_READ, type ReadAlong } from "../5-prepare/inbound-context.ts";
import { getMessageFiles } from "../5-prepare/message-files.ts";
import type { PreparedRun } from "../5-prepare/prepare.ts";
import { getUntrustedSpeakers } from "../5-prepare/prepare.ts";
import { toDeletionNote, toSummary, toUserMessages } from "../5-prepare/user-messages.ts";

/** Messages that join a run. */
export interface Steering {
  /** Returns the next messages that join the run, and notes about deleted messages. */
  next(): Promise<readonly AgentMessage[]>;
  /** Returns messages that have joined since the last call and were not deleted in the meantime. */
  takeJoined(): readonly InboxId[];
}

export function createSteering(ctx: GatewayContext, run: PreparedRun): Steering {
  const { messages, handle } = run;
  const joinedSince: QueuedMessage[] = [];
  /** Messages that the model has read. */
  let told: readonly QueuedMessage[] = [...messages];

  const takenBack = (): readonly AgentMessage[] => {
    const gone = told.filter(({ id }) => handle.recalled.has(id));
    told = told.filter((message) => !gone.includes(message));
    for (const { id } of gone) run.notedDeletions.add(id);
    return gone.length > 0 ? [toDeletionNote(ctx, gone)] : [];
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
      return [...notes, ...(await said(ctx, run, { short, whole }))];
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

/** Converts messages that join a run to the form for the model. */
async function said(
  ctx: GatewayContext,
  run: PreparedRun,
  { short, whole }: { readonly short: readonly QueuedMessage[]; readonly whole: readonly QueuedMessage[] },
): Promise<readonly UserMessage[]> {
  // Create the notes about attachments first, because their bytes are released after they were shown.
  const spoken = await toUserMessages(ctx, whole);
  const media = await read(ctx, run, [...short, ...whole]);
  const told = spoken.map((words, index) => {
    const own = media[short.length + index] ?? NOTHING_READ.media;
    const message = withFiles(words, own);
    run.contexts.add(message, { text: "", blocks: own.blocks });
    return message;
  });
  return short.length > 0 ? [toSummary(ctx, short), ...told] : told;
}

/** Reads the attachments of joining messages and taints the run with them. */
async function read(
  ctx: GatewayContext,
  { runId, agentModel, tools, taint }: PreparedRun,
  joining: readonly QueuedMessage[],
): Promise<readonly ReadAlong["media"][]> {
  for (const { id, stored } of joining) {
    tools.addMessage(stored.event, stored.role, getSpeakerKey(stored.event));
    ctx.tracer.note(id, "queue", `steers the run ${runId}`);
  }
  const media = await ctx.media.in.show(
    joining.map((message) => getMessageFiles(ctx, message)),
    agentModel.model.input,
  );
  if (media.some(({ untrusted }) => untrusted)) tools.addTaint("file");
  await taint.add({ sources: tools.taint(), speakers: getUntrustedSpeakers(joining) });
  return media;
}

/** The files of a joining message are read before it is stored, so their text becomes part of the message's context. */
function withFiles(words: UserMessage, media: ReadAlong["media"]): UserMessage {
  const files = formatReadContent({ ...NOTHING_READ, media });
  const context = [words.context ?? "", files].filter((part) => part !== "").join("\n\n");
  return context === "" ? words : { ...words, context };
}
