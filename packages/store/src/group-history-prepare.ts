import { encode } from "./json.ts";
import type { ToldEntry } from "./types/history.ts";

/** A validated and encoded entry. */
export interface PreparedHistory {
  readonly conversation: string;
  readonly entryId: string;
  readonly senderId: string;
  readonly body: string;
  readonly at: number;
}

/** @throws StoreError `invalid` */
export function prepareHistory({ conversation, id, senderId, body, at }: ToldEntry): PreparedHistory {
  return { conversation, entryId: id, senderId, body: encode(body, "An entry of the group history"), at };
}
