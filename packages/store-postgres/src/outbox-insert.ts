import { answeredRows, derivedKey, type PreparedOutbox, WRITTEN_FORMAT } from "@signalbox/store/backend";
import type { Bodies, LeaseToken, OutboxRow } from "@signalbox/store/types";
import { and, inArray, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import { pushHistory } from "./group-history-rows.ts";
import { lockNames } from "./locks.ts";
import { type Destination, isUnsentTo, selectOutbox, toOutboxRows } from "./outbox-rows.ts";
import { reserveNumbers } from "./row-numbers.ts";
import { runIdOf } from "./run-rows.ts";
import { type OutboxRecord, outbox, type RunRecord } from "./schema/index.ts";
import { ONE_ROW, type Transaction } from "./transaction.ts";

/** The origin of inserted rows. */
interface OutboxOrigin {
  readonly lease: LeaseToken;
  readonly run?: RunRecord;
  readonly sessionKey?: string | null;
  /** Position of the first row among the rows of its run. Default: 0. */
  readonly place?: number;
}

/** An inserted row, or the existing row with the same key. */
interface Inserted<T extends Bodies> {
  readonly seq: number;
  readonly row: OutboxRow<T["outbound"]>;
}

/** Inserts rows after everything that this depends on was read. */
type WriteOutbox<T extends Bodies> = (
  rows: readonly PreparedOutbox[],
  origin: OutboxOrigin,
  at: number,
) => readonly Inserted<T>[];

/**
 * Reads what an insert depends on, and locks the destinations. Call it together with the other reads of a transaction
 * to share their round trip.
 */
export type ReadOutbox<T extends Bodies> = (
  tx: Transaction,
  rows: readonly PreparedOutbox[],
) => Promise<WriteOutbox<T>>;

export function createOutboxInsert<T extends Bodies>({ nonce }: Context): ReadOutbox<T> {
  return async (tx, prepared) => {
    const destinations = prepared.map(({ row }) => row);
    // The rows of a destination become visible in the order of their numbers, in which they are sent.
    lockNames(
      tx,
      destinations.map(({ channel, account, address }) => `outbox ${channel}/${account} ${address}`),
    );
    const [numbers, keyed, free] = await Promise.all([
      reserveNumbers(tx, "outbox", prepared.length),
      readKeyed<T>(tx, prepared),
      Promise.all(destinations.map((row) => row.claim === true && isFree(tx, row))),
    ]);
    const busy = new Set<string>();

    return (rows, { run, sessionKey = null, place = 0, lease: sender }, at) =>
      rows.flatMap((one, index) => {
        const { row, payload, told } = one;
        const earlier = row.key === undefined ? undefined : keyed.get(row.key);
        if (earlier !== undefined) return earlier;
        const seq = numbers[index] ?? 0;
        const destination = JSON.stringify([row.channel, row.account, row.address]);
        const isDue = row.notBefore === undefined || row.notBefore <= at;
        const isClaimed = free[index] === true && isDue && !busy.has(destination);
        busy.add(destination);
        const maker = run === undefined ? `${nonce(at)} ${seq}` : runIdOf(run);
        const inserted: OutboxRecord = {
          seq,
          nonce: nonce(at),
          key: row.key ?? derivedKey(maker, place + index),
          keyed: row.key !== undefined,
          sessionKey,
          run: run?.n ?? null,
          channel: row.channel,
          account: row.account,
          address: row.address,
          payload,
          partCount: row.partCount ?? 1,
          state: isClaimed ? "sending" : "pending",
          leaseName: isClaimed ? sender.name : null,
          leaseEpoch: isClaimed ? sender.epoch : null,
          attempts: isClaimed ? 1 : 0,
          nextAt: row.notBefore ?? at,
          expiresAt: row.expiresAt ?? null,
          receipts: [],
          error: null,
          createdAt: at,
          updatedAt: at,
          answers: [...answeredRows(row.answers, row.reports)],
          format: WRITTEN_FORMAT,
        };
        tx.send(tx.db.insert(outbox).values(inserted));
        if (told !== undefined) pushHistory(tx, told);
        const added = toOutboxRows<T>({ row: inserted, run: run ?? null }).map((full) => ({
          seq,
          row: full,
        }));
        if (row.key !== undefined && added[0] !== undefined) keyed.set(row.key, added[0]);
        return added;
      });
  };
}

/** Returns the existing rows with the keys of the inserts. */
async function readKeyed<T extends Bodies>(
  { db }: Transaction,
  prepared: readonly PreparedOutbox[],
): Promise<Map<string, Inserted<T>>> {
  const keys = prepared.flatMap(({ row }) => row.key ?? []);
  if (keys.length === 0) return new Map();
  const rows = await selectOutbox(db).where(and(inArray(outbox.key, keys), outbox.keyed));
  return new Map(
    rows.flatMap((joined) =>
      toOutboxRows<T>(joined).map((row) => [row.key, { seq: joined.row.seq, row }] as const),
    ),
  );
}

/** Returns true if no row waits for the destination. */
async function isFree({ db }: Transaction, to: Destination): Promise<boolean> {
  const hasUnsent = sql`EXISTS (SELECT 1 FROM ${outbox} WHERE ${isUnsentTo(to)})`;
  const [row] = await db.select({ isFree: sql<boolean>`NOT ${hasUnsent}` }).from(ONE_ROW);
  return row?.isFree === true;
}
