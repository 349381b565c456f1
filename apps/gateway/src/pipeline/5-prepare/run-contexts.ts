import type { MediaForModel } from "@signalbox/attachments";
import {
  createMemoryContext,
  createMessageContexts,
  hasMemoryLine,
  type MessageContexts,
} from "@signalbox/prompt";
import type { MessageContext } from "@signalbox/store";
import type { Role } from "@signalbox/tools";
import type { GatewayStore } from "../../store.ts";
import { formatGroupHistory, formatReadContent, NOTHING_READ, type ReadAlong } from "./inbound-context.ts";
import type { OpenedRun } from "./opened-run.ts";

/** Content that was read for a run's messages. */
interface ReadForRun extends Omit<ReadAlong, "media"> {
  /** Media of each message. */
  readonly media: readonly MediaForModel[];
  /** True if recalled lines are for owners only. */
  readonly forOwner: boolean;
}

/** Context of the messages in one run's model requests. */
export interface RunContexts {
  /** Returns true if the context already contains this line from memory. */
  hasLine(line: string): boolean;
  /**
   * Stores the content that was read for the run's messages and returns the context of each message in the
   * conversation.
   */
  keep(read: ReadForRun): Promise<MessageContexts>;
}

type ContextStore = Pick<GatewayStore["contexts"], "put" | "from">;

/**
 * Loads the context of earlier messages. It is sent with them in every later request, because a change to earlier
 * messages causes a miss in the vendor's cache. Images are only sent by the run that answers them.
 */
export async function openContexts(store: ContextStore, run: OpenedRun, role: Role): Promise<RunContexts> {
  const own = new Set(run.spoken.map(({ place }) => place));
  const kept = await store.from(run.sessionKey, Math.min(...run.seqs));
  // A resumed run reads the context of its messages again, so their stored context is omitted.
  const earlier = kept.filter(({ seq }) => !own.has(seq)).map((context) => visibleTo(role, context));
  return {
    hasLine: (line) => earlier.some(({ recalled }) => hasMemoryLine(recalled, line)),
    async keep(read) {
      const now = run.spoken.map(({ message, place }) => {
        const mine = readFor(run.messages.indexOf(message), run.messages.length, read);
        const { told, media } = mine;
        const recalled = createMemoryContext(mine.memory);
        return { seq: place, text: formatReadContent(mine), told, recalled, blocks: media.blocks };
      });
      const filled = now.filter(({ text, told, recalled }) => text + recalled !== "" || told.length > 0);
      const contexts = filled.map(({ blocks: _, ...context }) => ({ ...context, forOwner: read.forOwner }));
      if (contexts.length > 0) await store.put(run.sessionKey, contexts);
      return besideMessages(run, [...earlier.map((context) => ({ ...context, blocks: [] })), ...now]);
    },
  };
}

/** Guests never see recalled memory, and members never see owners' notes, even if others saw them here. */
function visibleTo(role: Role, context: MessageContext): MessageContext {
  const isOwners = role === "owner" || role === "system";
  const isHeard = context.forOwner ? isOwners : role !== "guest";
  return isHeard ? context : { ...context, recalled: "" };
}

/** Each message gets its own files. Content that was read for all messages is added to the last one. */
function readFor(index: number, count: number, read: ReadForRun): ReadAlong {
  const media = read.media[index] ?? NOTHING_READ.media;
  return index === count - 1 ? { ...read, media } : { ...NOTHING_READ, media };
}

function besideMessages(
  { history, input = [], seqs }: OpenedRun,
  contexts: readonly (Omit<MessageContext, "forOwner"> & Pick<ReadAlong["media"], "blocks">)[],
): MessageContexts {
  const messages = [...history, ...input];
  const made = createMessageContexts();
  for (const { seq, told, text, recalled, blocks } of contexts) {
    const message = messages[seqs.indexOf(seq)];
    if (message?.role !== "user") continue;
    const parts = [formatGroupHistory(told), text, recalled].filter((part) => part !== "");
    made.add(message, { text: parts.join("\n\n"), blocks });
  }
  return made;
}
