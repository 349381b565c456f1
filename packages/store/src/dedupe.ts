import { eq } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { type DedupeKey, dedupeKey } from "./dedupe-keys.ts";
import type { InboxRows } from "./inbox-rows.ts";
import { dedupe, type InboxRecord } from "./schema/index.ts";
import type { Bodies } from "./types/common.ts";
import type { PlatformMessage } from "./types/inbox.ts";

const dayMs = 86_400_000;

/** The first delivery: its row, or `pruned` if only the key remains. */
type Seen = { readonly row: InboxRecord } | "pruned";

/** The index of deduplication keys. Use it only inside a transaction. */
export interface DedupeIndex {
  find(key: DedupeKey): Seen | undefined;
  /** Adds the keys of row `seq`. */
  add(keys: readonly DedupeKey[], seq: number, receivedAt: number): void;
}

/** Returns the message with this platform id if it is still stored. */
export function messageRow(
  dedupe: DedupeIndex,
  { channel, account, messageId }: PlatformMessage,
): InboxRecord | undefined {
  const seen = dedupe.find(dedupeKey("message", channel, account, messageId));
  return seen === undefined || seen === "pruned" ? undefined : seen.row;
}

export function createDedupeIndex({ database }: Context, rows: InboxRows<Bodies>): DedupeIndex {
  const byHash = database.query((p: Bound<{ key: number }>) =>
    database.db
      .select()
      .from(dedupe)
      .where(eq(dedupe.key, p("key"))),
  );
  const put = database.replace(dedupe, [dedupe.key]);

  return {
    find(key) {
      const seq = byHash.get({ key: key.hash })?.seq;
      if (seq === undefined) return undefined;
      const row = rows.record(seq);
      if (row === undefined) return "pruned";
      return isRowOf(rows, row, key) ? { row } : undefined;
    },
    add(keys, seq, receivedAt) {
      const day = Math.floor(receivedAt / dayMs);
      for (const { hash: key } of keys) put.run({ key, seq, day });
    },
  };
}

/**
 * Returns false if the row belongs to another key with the same hash. If the body of the row is damaged, the hash is
 * sufficient.
 */
function isRowOf(rows: InboxRows<Bodies>, row: InboxRecord, key: DedupeKey): boolean {
  const event = rows.event(row);
  if (event === undefined) return true;
  const id = key.kind === "event" ? event.eventId : event.messageId;
  return event.channel === key.channel && event.account === key.account && id === key.id;
}
