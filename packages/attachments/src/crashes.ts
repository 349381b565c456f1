import type { MessageEvent } from "@signalbox/channel";
import { createCrashCounts } from "@signalbox/lanes";

const NAMESPACE = "media-attempt";
/** No message waits for so long, in milliseconds; what a deleted one left behind goes with it. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** A message, as far as it may carry something. */
export interface CarryingMessage {
  readonly id: string;
  readonly stored: { readonly event: Pick<MessageEvent, "media"> };
}

/**
 * How many processes took the attachments of a message and died before its run began. From then on the run itself
 * counts its starts. Messages without attachments are not counted, and cost no write.
 */
export interface AttachmentCrashes {
  /** The most of any of these messages, and those that are given up. */
  before<Message extends CarryingMessage>(
    messages: readonly Message[],
  ): Promise<{ readonly most: number; readonly spent: readonly Message[] }>;
  /** Counts this process before it touches what is attached. On the disk when it resolves. */
  begin(messages: readonly CarryingMessage[]): Promise<void>;
  /** Their run has begun, or they have their end. */
  end(messages: readonly CarryingMessage[]): Promise<void>;
  /** This process ends as it was told to, which is no crash. */
  rest(): Promise<void>;
}

/** Where the counts are kept, each for so many milliseconds. */
export interface CrashNotes {
  get(namespace: string, key: string): Promise<unknown>;
  set(namespace: string, key: string, value: number, ttlMs: number): Promise<void>;
  delete(namespace: string, key: string): Promise<unknown>;
}

/** @param attempts processes that a message may end before it is given up */
export function createAttachmentCrashes(notes: CrashNotes, attempts: number): AttachmentCrashes {
  const counts = createCrashCounts({
    async read(id) {
      const count = await notes.get(NAMESPACE, id);
      return typeof count === "number" ? count : 0;
    },
    write: (id, count) => notes.set(NAMESPACE, id, count, KEPT_MS),
    async remove(id) {
      await notes.delete(NAMESPACE, id);
    },
  });
  const withFiles = <Message extends CarryingMessage>(messages: readonly Message[]): readonly Message[] =>
    messages.filter(({ stored }) => stored.event.media.length > 0);

  return {
    async before(messages) {
      const counted = await Promise.all(
        withFiles(messages).map(async (message) => ({ message, count: await counts.before(message.id) })),
      );
      return {
        most: Math.max(0, ...counted.map(({ count }) => count)),
        spent: counted.flatMap(({ message, count }) => (count >= attempts ? [message] : [])),
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
