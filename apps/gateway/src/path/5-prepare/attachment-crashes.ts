import { createCrashCounts } from "@signalbox/lanes";
import type { GatewayStore } from "../../store.ts";
import type { QueuedMessage } from "../4-queue/message.ts";

/** Starts of one run after which its messages are given up. */
export const POISON_ATTEMPTS = 3;

const NAMESPACE = "media-attempt";
/** No message waits for so long, in milliseconds; what a deleted one left behind goes with it. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * How many processes took the attachments of a message and died before its run began. From then on the run itself counts
 * its starts. Messages without attachments are not counted, and cost no write.
 */
export interface AttachmentCrashes {
  /** The most of any of these messages, and those that are given up. */
  before(
    messages: readonly QueuedMessage[],
  ): Promise<{ readonly most: number; readonly spent: readonly QueuedMessage[] }>;
  /** Counts this process before it touches what is attached. On the disk when it resolves. */
  begin(messages: readonly QueuedMessage[]): Promise<void>;
  /** Their run has begun, or they have their end. */
  end(messages: readonly QueuedMessage[]): Promise<void>;
  /** This process ends as it was told to, which is no crash. */
  rest(): Promise<void>;
}

export function createAttachmentCrashes({ kv }: Pick<GatewayStore, "kv">): AttachmentCrashes {
  const counts = createCrashCounts({
    async read(id) {
      const count = await kv.get(NAMESPACE, id);
      return typeof count === "number" ? count : 0;
    },
    write: (id, count) => kv.set(NAMESPACE, id, count, KEPT_MS),
    async remove(id) {
      await kv.delete(NAMESPACE, id);
    },
  });
  const withFiles = (messages: readonly QueuedMessage[]): readonly QueuedMessage[] =>
    messages.filter(({ stored }) => stored.event.media.length > 0);

  return {
    async before(messages) {
      const counted = await Promise.all(
        withFiles(messages).map(async (message) => ({ message, count: await counts.before(message.id) })),
      );
      return {
        most: Math.max(0, ...counted.map(({ count }) => count)),
        spent: counted.flatMap(({ message, count }) => (count >= POISON_ATTEMPTS ? [message] : [])),
      };
    },
    async begin(messages) {
      for (const { id } of withFiles(messages)) await counts.begin(id);
    },
    async end(messages) {
      for (const { id } of withFiles(messages)) await counts.end(id);
    },
    rest: () => counts.rest(),
  };
}
