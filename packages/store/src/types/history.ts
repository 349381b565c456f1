import type { JsonValue, Millis } from "./common.ts";

/** A group message that was not addressed to the agent. */
export interface GroupHistoryEntry {
  readonly id: string;
  readonly senderId: string;
  readonly body: JsonValue;
  readonly at: Millis;
}

/** An entry of the group history, with its conversation. */
export interface ToldEntry extends GroupHistoryEntry {
  readonly conversation: string;
}

/**
 * A ring buffer for each conversation. Pruning removes old entries too, since a group may never get another message.
 */
export interface GroupHistoryStore {
  /** Adds an entry, or replaces the entry with the same id. Removes the oldest entries beyond `limit` (default 20). */
  push(conversation: string, entry: GroupHistoryEntry, limit?: number): Promise<void>;
  /**
   * Replaces the body of an entry that was edited on its platform, also in the contexts of messages. Returns false if
   * the ring does not contain the entry.
   */
  revise(conversation: string, id: string, body: JsonValue): Promise<boolean>;
  /** Oldest first. */
  list(conversation: string): Promise<readonly GroupHistoryEntry[]>;
  /** Removes an entry that was deleted on its platform, or all entries, also from the contexts of messages. */
  clear(conversation: string, id?: string): Promise<void>;
}
