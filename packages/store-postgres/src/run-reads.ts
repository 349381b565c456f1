import { ROW_FORMAT, rowOf, rowOrEnd } from "@signalbox/store/backend";
import type { Bodies, InterruptedRun, RunStore } from "@signalbox/store/types";
import { and, asc, desc, eq, getTableColumns, inArray, isNotNull, lt, lte } from "drizzle-orm";
import type { Context } from "./context.ts";
import { selectInbox, toInboxRows } from "./inbox-rows.ts";
import type { Fence } from "./leases.ts";
import { readMessagesOfRun } from "./messages.ts";
import { findRun, runIdOf, toRun } from "./run-rows.ts";
import { inbox, type RunRecord, run, session } from "./schema/index.ts";
import { readCalls } from "./tool-calls.ts";
import type { Transaction } from "./transaction.ts";

const DEFAULT_LIMIT = 50;

/** Creates the methods that read runs. */
export function createRunReads<T extends Bodies>(
  { database }: Context,
  fence: Fence,
): Pick<RunStore<T>, "interrupted" | "active" | "get" | "inspect" | "summaries" | "list"> {
  const selectActive = ({ db }: Pick<Transaction, "db">) =>
    db
      .select(getTableColumns(run))
      .from(session)
      .innerJoin(run, eq(run.n, session.activeRun))
      .orderBy(asc(run.n))
      .$dynamic();

  return {
    interrupted: (asker) =>
      database.read(async (tx) => {
        const lost = await selectActive(tx).where(
          and(isNotNull(session.activeRun), lte(run.format, ROW_FORMAT), fence.isLost(run, asker)),
        );
        return Promise.all(lost.map((record) => inspect<T>(tx, record)));
      }),

    active: () =>
      database.query(async (db) =>
        (await selectActive({ db }).where(isNotNull(session.activeRun))).map(toRun),
      ),

    get: (id) =>
      database.query(async (db) => {
        const rows = await db
          .select()
          .from(run)
          .where(eq(run.n, rowOf(id) ?? 0));
        return rows.map(toRun).find((found) => found.id === id);
      }),

    inspect: (id) =>
      database.read(async (tx) => {
        const record = await findRun(tx, id);
        return record === undefined ? undefined : inspect<T>(tx, record);
      }),

    summaries: (ids) =>
      database.read(async (tx) => {
        const wanted = new Set<string>(ids);
        const numbers = ids.map((id) => rowOf(id) ?? 0);
        const rows = await tx.db.select().from(run).where(inArray(run.n, numbers));
        const found = rows.filter((record) => wanted.has(runIdOf(record)));
        const messages = await readMessagesIn<T>(
          tx,
          found.flatMap((record) => record.inbox),
        );
        return found.map((record) => ({
          run: toRun(record),
          inbox: record.inbox.flatMap((seq) => messages.get(seq) ?? []),
        }));
      }),

    list: ({ sessionKey, before, limit = DEFAULT_LIMIT } = {}) =>
      database.query(async (db) => {
        const isOfSession = sessionKey === undefined ? undefined : eq(run.sessionKey, sessionKey);
        const rows = await db
          .select()
          .from(run)
          .where(and(isOfSession, lt(run.n, rowOrEnd(before))))
          .orderBy(desc(run.n))
          .limit(limit);
        return rows.map(toRun);
      }),
  };
}

async function readMessagesIn<T extends Bodies>({ db }: Transaction, seqs: readonly number[]) {
  if (seqs.length === 0) return new Map<number, never>();
  const rows = await selectInbox(db).where(inArray(inbox.seq, [...seqs]));
  return new Map(rows.flatMap(toInboxRows<T>).map((row) => [row.seq, row]));
}

async function inspect<T extends Bodies>(tx: Transaction, record: RunRecord): Promise<InterruptedRun<T>> {
  const [messages, calls, answered] = await Promise.all([
    readMessagesOfRun<T>(tx, record.n),
    readCalls(tx, record),
    readMessagesIn<T>(tx, record.inbox),
  ]);
  return {
    run: toRun(record),
    messages,
    calls,
    inbox: record.inbox.flatMap((seq) => answered.get(seq) ?? []),
  };
}
