import { type DedupeKey, dedupeKey } from "@signalbox/store/backend";
import type { PlatformMessage } from "@signalbox/store/types";
import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import { dedupe, type InboxRecord, inbox } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

const dayMs = 86_400_000;

/** The first delivery: its row, or `pruned` if only the key remains. */
type FirstDelivery = InboxRecord | "pruned";

const toDay = (receivedAt: SQL | number): SQL<number> => sql<number>`${receivedAt}::bigint / ${dayMs}`;

/**
 * Adds the keys that are new, for the row whose number this transaction reserved. Waits for transactions
 * that are adding the same keys. Returns the first delivery of the event, if this is not the first one.
 */
export async function addKeys(
  { db }: Transaction,
  keys: readonly DedupeKey[],
  receivedAt: SQL | number,
): Promise<FirstDelivery | undefined> {
  // In the order of their hashes, so that two transactions do not wait for each other.
  const rows = keys
    .map(({ hash: key }) => ({ key, seq: sql`currval('inbox_seq_seq')`, day: toDay(receivedAt) }))
    .toSorted((a, b) => a.key - b.key);
  const [added, seen] = await Promise.all([
    db.insert(dedupe).values(rows).onConflictDoNothing().returning({ key: dedupe.key }),
    db
      .select({ key: dedupe.key, row: inbox })
      .from(dedupe)
      .leftJoin(inbox, eq(inbox.seq, dedupe.seq))
      .where(
        inArray(
          dedupe.key,
          rows.map(({ key }) => key),
        ),
      ),
  ]);
  const own = new Set(added.map(({ key }) => key));
  return keys.flatMap((key) => {
    const found = seen.find((row) => row.key === key.hash && !own.has(row.key));
    if (found === undefined) return [];
    if (found.row === null) return "pruned" as const;
    return isRowOf(found.row, key) ? found.row : [];
  })[0];
}

/** Removes the keys that this transaction added. */
export function removeKeys({ db, send }: Transaction, seq: number): void {
  send(db.delete(dedupe).where(eq(dedupe.seq, seq)));
}

/** Assigns keys to a row. Keys of other rows may have the same hash. */
export function assignKeys({ db, send }: Transaction, keys: readonly DedupeKey[], seq: number): void {
  const hashes = keys.map(({ hash }) => hash);
  send(
    db
      .update(dedupe)
      .set({ seq })
      .where(and(inArray(dedupe.key, hashes), sql`${dedupe.seq} <> ${seq}`)),
  );
}

/** Locks the message with this platform id, if it is still stored, until the end of the transaction. */
export async function lockPlatformMessage(
  { db }: Transaction,
  { channel, account, messageId }: PlatformMessage,
): Promise<InboxRecord | undefined> {
  const key = dedupeKey("message", channel, account, messageId);
  const rows = await db
    .select()
    .from(inbox)
    .where(eq(inbox.seq, sql`(SELECT seq FROM ${dedupe} WHERE key = ${key.hash})`))
    .for("update");
  return rows.find((row) => isRowOf(row, key));
}

/** Returns false if the row belongs to another key with the same hash. */
function isRowOf(row: InboxRecord, key: DedupeKey): boolean {
  const id = key.kind === "event" ? row.eventId : row.messageId;
  return row.channel === key.channel && row.account === key.account && id === key.id;
}
