import { getAllMedia, type MessageEvent } from "@signalbox/channel";
import { createCrashCounts } from "@signalbox/lanes";

const NAMESPACE = "media_attempt";
/** Lifetime of counts in milliseconds. No message waits this long, so counts of deleted messages expire. */
const TTL_MS = 7 * 24 * 60 * 60 * 1000;

/** A message that may have attachments. */
export interface CarryingMessage {
  readonly id: string;
  readonly stored: { readonly event: Pick<MessageEvent, "media" | "references"> };
}

/**
 * Counts the processes that crashed while reading the attachments of a message, before its run began. After that, the
 * run counts its own starts. Messages without attachments are not counted and require no write.
 */
export interface AttachmentCrashes {
  /** Returns the messages during which `maxCrashes` or more processes crashed. */
  findPoisoned<Message extends CarryingMessage>(messages: readonly Message[]): Promise<readonly Message[]>;
  /** Counts this process. Call it before reading attachments. The count is durable when it resolves. */
  begin(messages: readonly CarryingMessage[]): Promise<void>;
  /** Deletes the counts. Call it when the run of the messages has begun or they have ended. */
  end(messages: readonly CarryingMessage[]): Promise<void>;
  /** Removes this process from all counts. Call it on an orderly stop. */
  stopCleanly(): Promise<void>;
}

/** Storage for the counts. */
export interface CrashNotes {
  get(namespace: string, key: string): Promise<unknown>;
  set(namespace: string, key: string, value: number, ttlMs: number): Promise<void>;
  delete(namespace: string, key: string): Promise<unknown>;
}

/** @param maxCrashes number of crashed processes after which a message is set aside */
export function createAttachmentCrashes(notes: CrashNotes, maxCrashes: number): AttachmentCrashes {
  const counts = createCrashCounts({
    async read(id) {
      const count = await notes.get(NAMESPACE, id);
      return typeof count === "number" ? count : 0;
    },
    write: (id, count) => notes.set(NAMESPACE, id, count, TTL_MS),
    async remove(id) {
      await notes.delete(NAMESPACE, id);
    },
  });
  const withAttachments = <Message extends CarryingMessage>(
    messages: readonly Message[],
  ): readonly Message[] => messages.filter(({ stored }) => getAllMedia(stored.event).length > 0);

  return {
    async findPoisoned(messages) {
      const candidates = withAttachments(messages);
      const crashes = await Promise.all(candidates.map(({ id }) => counts.get(id)));
      return candidates.filter((_, at) => (crashes[at] ?? 0) >= maxCrashes);
    },
    async begin(messages) {
      for (const { id } of withAttachments(messages)) await counts.begin(id);
    },
    async end(messages) {
      for (const { id } of withAttachments(messages)) await counts.end(id);
    },
    stopCleanly: () => counts.stopCleanly(),
  };
}
