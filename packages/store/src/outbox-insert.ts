import type { Context } from "./context.ts";
import type { Entries } from "./entries.ts";
import { StoreError } from "./errors.ts";
import type { GroupHistoryRows } from "./group-history-rows.ts";
import { derivedKey, type PreparedOutbox } from "./outbox-prepare.ts";
import { type OutboxRows, toOutboxRow } from "./outbox-rows.ts";
import { runIdOf } from "./run-rows.ts";
import { type OutboxRecord, outbox, type RunRecord } from "./schema/index.ts";
import type { Bodies, LeaseToken } from "./types/common.ts";
import type { OutboxRow } from "./types/outbox.ts";
import { answeredRows } from "./undelivered.ts";

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

/** Inserts rows inside a transaction. */
export type InsertOutbox<T extends Bodies> = (
  rows: readonly PreparedOutbox[],
  origin: OutboxOrigin,
) => readonly Inserted<T>[];

interface Parts<T extends Bodies> {
  readonly rows: OutboxRows<T>;
  readonly entries: Entries;
  readonly history: GroupHistoryRows;
}

export function createOutboxInsert<T extends Bodies>(
  { database, now, nonce }: Context,
  { rows, entries, history }: Parts<T>,
): InsertOutbox<T> {
  const insert = database.insert(outbox);

  function mustBeFull(seq: number): OutboxRow<T["outbound"]> {
    const row = rows.full(seq);
    if (row === undefined) throw new StoreError("corrupt", `Outbox row ${seq} or its content is missing.`);
    return row;
  }

  function record({ row, payload }: PreparedOutbox, origin: OutboxOrigin, place: number) {
    const at = now();
    const { channel, account, address } = row;
    const due = row.notBefore === undefined || row.notBefore <= at;
    const claimed = row.claim === true && due && !rows.hasUnsent(row);
    const body = entries.add("outbound", payload, { at, sessionKey: origin.sessionKey ?? null });
    const maker = origin.run === undefined ? `${nonce(at)} ${body}` : runIdOf(origin.run);
    const inserted: Omit<OutboxRecord, "seq"> = {
      nonce: nonce(at),
      key: row.key ?? derivedKey(maker, place),
      keyed: row.key !== undefined,
      entry: body,
      run: origin.run?.n ?? null,
      channel,
      account,
      address,
      partCount: row.partCount ?? 1,
      state: claimed ? "sending" : "pending",
      leaseName: claimed ? origin.lease.name : null,
      leaseEpoch: claimed ? origin.lease.epoch : null,
      attempts: claimed ? 1 : 0,
      nextAt: row.notBefore ?? at,
      expiresAt: row.expiresAt ?? null,
      receipts: [],
      error: null,
      createdAt: at,
      updatedAt: at,
      answers: answeredRows(row.answers, row.reports),
    };
    return { seq: insert.run(inserted).rowNumber, ...inserted };
  }

  function insertOne(prepared: PreparedOutbox, origin: OutboxOrigin, place: number): Inserted<T> {
    const { row, payload, told } = prepared;
    const earlier = row.key === undefined ? undefined : rows.byKey(row.key);
    if (earlier !== undefined) return { seq: earlier.seq, row: mustBeFull(earlier.seq) };
    const inserted = record(prepared, origin, place);
    if (told !== undefined) history.push(told);
    const { sessionKey = null, run = null } = origin;
    // Built from the inserted values to save a query.
    return {
      seq: inserted.seq,
      row: toOutboxRow<T>({ row: inserted, run, sessionKey }, { payload: JSON.parse(payload), receipts: [] }),
    };
  }

  return (added, origin) => added.map((row, index) => insertOne(row, origin, (origin.place ?? 0) + index));
}
