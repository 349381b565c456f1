import type { JsonValue, Millis } from "./common.ts";

/** A group message that was not addressed to the agent. */
export interface GroupHistoryEntry {
  readonly id: string;
  readonly senderId: string;
  readonly body: JsonValue;
  readonly at: Millis;
}

/** A group history entry and its conversation. */
export interface ToldEntry extends GroupHistoryEntry {
  readonly conversation: string;
}

/**
 * A ring buffer for each conversation. Pruning also removes old entries, because a group may never receive another
 * message.
 */
export interface GroupHistoryStore {
  /** Adds an entry, or replaces the entry with the same id. Removes the oldest entries beyond `limit` (default 20). */
  push(conversation: string, entry: GroupHistoryEntry, limit?: number): Promise<void>;
  /**
   * Replaces the body of an entry that was edited on its platform, including its copies in message contexts. Returns
   * false if the ring buffer does not contain the entry.
   */
  revise(conversation: string, id: string, body: JsonValue): Promise<boolean>;
  /** Returns the entries, oldest first. */
  list(conversation: string): Promise<readonly GroupHistoryEntry[]>;
  /**
   * Removes an entry that was deleted on its platform, or all entries if no id is given. Removes them from message
   * contexts, too.
   */
  clear(conversation: string, id?: string): Promise<void>;
}
