import { decodeIntact, eachFigure, isSameLease, rowOf } from "@signalbox/store/backend";
import { StoreError } from "@signalbox/store/errors";
import type { JsonValue, LeaseToken, Session, SessionSeed } from "@signalbox/store/types";
import { eq, getTableColumns, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import { runIdOf, stampOf } from "./run-rows.ts";
import { minuteOf, type RunRecord, run, type SessionRecord, session } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

/** A session and the run that holds it, if any. */
export interface SessionState {
  readonly record: SessionRecord;
  readonly holding: RunRecord | undefined;
}

/** Creates the session unless it exists. */
export function createSession({ db, send }: Transaction, database: Database, seed: SessionSeed): void {
  const at = database.now();
  const row = { ...seed, createdAt: at, updatedAt: at, updatedMinute: sql`${at} / 60000` };
  send(db.insert(session).values(row).onConflictDoNothing());
}

/** Reads a session. */
export const loadSession = ({ db }: Transaction, key: string): Promise<SessionState | undefined> =>
  readState(db.select().from(session).where(eq(session.key, key)), selectHolding(db, key));

/** Reads a session and locks it until the end of the transaction. Other writers wait. */
export const lockSession = ({ db }: Transaction, key: string | SQL): Promise<SessionState | undefined> =>
  readState(
    db.select().from(session).where(eq(session.key, key)).for("update"),
    // A separate statement sees the changes of the transaction that held the lock before.
    selectHolding(db, key),
  );

/** @throws StoreError `not_found` */
export async function mustLockSession(tx: Transaction, key: string): Promise<SessionState> {
  const state = await lockSession(tx, key);
  if (state === undefined) throw new StoreError("not_found", `There is no session "${key}".`);
  return state;
}

/** Locks the session that a run holds. */
export async function lockSessionOfRun(tx: Transaction, runId: string): Promise<SessionState> {
  const n = rowOf(runId) ?? 0;
  const state = await lockSession(tx, sql`(SELECT ${run.sessionKey} FROM ${run} WHERE ${run.n} = ${n})`);
  if (state === undefined) throw new StoreError("not_found", `There is no run ${runId} with a session.`);
  return state;
}

const selectHolding = (db: Transaction["db"], key: SQLWrapper | string) =>
  db
    .select(getTableColumns(run))
    .from(session)
    .innerJoin(run, eq(run.n, session.activeRun))
    .where(eq(session.key, key));

async function readState(
  records: PromiseLike<SessionRecord[]>,
  holders: PromiseLike<RunRecord[]>,
): Promise<SessionState | undefined> {
  const [[record], [holding]] = await Promise.all([records, holders]);
  return record && { record, holding };
}

/** @throws StoreError `busy` if a run holds the session. With `lease`, only if the run belongs to another lease. */
export function requireFree({ record, holding }: SessionState, lease?: LeaseToken): void {
  if (holding === undefined || isSameLease(lease, stampOf(holding))) return;
  throw new StoreError("busy", `Run ${runIdOf(holding)} holds session "${record.key}".`);
}

/** Changes a session that is locked, and returns it as it is then. */
export function updateSession(
  { db, send }: Transaction,
  { record, holding }: SessionState,
  changes: Partial<SessionRecord>,
): SessionState {
  send(db.update(session).set(changes).where(eq(session.key, record.key)));
  return { record: { ...record, ...changes }, holding };
}

/** Returns the columns that record activity in the session. */
export const activityAt = (at: number): Pick<SessionRecord, "updatedAt" | "updatedMinute"> => ({
  updatedAt: at,
  updatedMinute: minuteOf(at),
});

export function toSession({ record, holding }: SessionState): Session {
  return {
    key: record.key,
    agentId: record.agentId,
    channel: record.channel,
    account: record.account,
    peer: record.peer,
    kind: record.kind,
    title: record.title ?? undefined,
    model: record.model ?? undefined,
    thinking: record.thinking ?? undefined,
    queueMode: record.queueMode ?? undefined,
    data: record.data === null ? undefined : (decodeIntact<JsonValue>(record.data) ?? null),
    generation: record.generation,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    resetAt: record.resetAt ?? undefined,
    lastSeq: record.lastSeq,
    messageCount: record.messageCount,
    activeRun: holding === undefined ? undefined : runIdOf(holding),
    totals: { runs: record.runs, ...eachFigure((figure) => record[figure]) },
  };
}
