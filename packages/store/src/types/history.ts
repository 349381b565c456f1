import type { JsonValue, Millis } from "./common.ts";

/** What was said in a group without being addressed to the agent. */
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
