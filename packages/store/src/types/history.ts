import type { JsonValue, Millis } from "./common.ts";

/** A group message that was not addressed to the agent. */
export interface GroupHistoryEntry {
  readonly id: string;
  readonly senderId: string;
  readonly body: JsonValue;
  readonly at: Millis;
}

/** Such an entry beside a message, with the name of its ring. */
export interface ToldEntry extends GroupHistoryEntry {
  readonly conversation: string;
}

/** A ring for each conversation. Old entries are removed by pruning, since there may never be another message. */
export interface GroupHistoryStore {
  /** Adds one; the oldest beyond `limit` (default 20) go. The same id again replaces. */
  push(conversation: string, entry: GroupHistoryEntry, limit?: number): Promise<void>;
  /**
   * Changes one that is there, and what models were told of it (edited on the platform); false where it is not there,
   * or not any more.
   */
  revise(conversation: string, id: string, body: JsonValue): Promise<boolean>;
  /** Oldest first. */
  list(conversation: string): Promise<readonly GroupHistoryEntry[]>;
  /** Removes one (deleted on the platform), or all, and what models were told of it. */
  clear(conversation: string, id?: string): Promise<void>;
}
