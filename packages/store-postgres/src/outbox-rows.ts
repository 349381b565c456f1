import { decodeIntact, idOf, rowOf } from "@signalbox/store/backend";
import type { Bodies, OutboxId, OutboxRow } from "@signalbox/store/types";
import { and, eq, type SQL } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { runIdOf } from "./run-rows.ts";
import { isUnsent, type OutboxRecord, outbox, type RunRecord, run } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

/** A destination. Rows of one destination are sent in order. */
export interface Destination {
  readonly channel: string;
  readonly account: string;
  readonly address: string;
}

/** A row with its run. */
export interface JoinedOutbox {
  readonly row: OutboxRecord;
  readonly run: Pick<RunRecord, "n" | "nonce" | "startedAt"> | null;
}

/** Selects the unsent rows of a destination. */
export const isUnsentTo = ({ channel, account, address }: Destination): SQL | undefined =>
  and(eq(outbox.channel, channel), eq(outbox.account, account), eq(outbox.address, address), isUnsent);

function outboxIdOf({ createdAt, nonce, seq }: OutboxRecord): OutboxId {
  return idOf<OutboxId>(createdAt, nonce, seq);
}

/** Parses a row. Omits a row with damaged JSON. */
export function toOutboxRows<T extends Bodies>({ row, run: made }: JoinedOutbox): OutboxRow<T["outbound"]>[] {
  const payload = decodeIntact<T["outbound"]>(row.payload);
  if (payload === undefined) return [];
  return [
    {
      id: outboxIdOf(row),
      runId: made === null ? undefined : runIdOf(made),
      sessionKey: row.sessionKey ?? undefined,
      channel: row.channel,
      account: row.account,
      address: row.address,
      payload,
      partCount: row.partCount,
      key: row.key,
      state: row.state,
      attempts: row.attempts,
      nextAt: row.nextAt,
      expiresAt: row.expiresAt ?? undefined,
      receipts: row.receipts,
      error: row.error ?? undefined,
      createdAt: row.createdAt,
      updatedAt: row.updatedAt,
    },
  ];
}

/** Selects rows with their runs. */
export const selectOutbox = (db: NodePgDatabase) =>
  db
    .select({ row: outbox, run: { n: run.n, nonce: run.nonce, startedAt: run.startedAt } })
    .from(outbox)
    .leftJoin(run, eq(run.n, outbox.run))
    .$dynamic();

const isNumber = (id: string): SQL => eq(outbox.seq, rowOf(id) ?? 0);

export async function findOutboxRow({ db }: Transaction, id: string): Promise<OutboxRecord | undefined> {
  const rows = await db.select().from(outbox).where(isNumber(id));
  return rows.find((row) => outboxIdOf(row) === id);
}

/** Locks a row until the end of the transaction and returns it. */
export async function lockOutboxRow({ db }: Transaction, id: string): Promise<OutboxRecord | undefined> {
  const rows = await db.select().from(outbox).where(isNumber(id)).for("update");
  return rows.find((row) => outboxIdOf(row) === id);
}

/** Changes a row that is locked. */
export function updateOutboxRow(
  { db, send }: Transaction,
  seq: number,
  changes: Partial<OutboxRecord>,
): void {
  send(db.update(outbox).set(changes).where(eq(outbox.seq, seq)));
}

/**
 * Returns whether a row has expired. A row that is being sent never expires, because it may already have been sent.
 * Reconciliation determines that.
 */
export function isTooOld({ state, expiresAt }: OutboxRecord, at: number): boolean {
  return state === "pending" && expiresAt !== null && expiresAt <= at;
}
