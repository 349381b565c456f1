import { asc, desc, eq, getTableColumns, inArray, lt, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound, Database } from "./database.ts";
import { rowOf, rowOrEnd } from "./ids.ts";
import type { InboxRows } from "./inbox-rows.ts";
import type { Fence } from "./leases.ts";
import type { MessageChain } from "./messages.ts";
import { type RunRows, runIdOf, stampOf } from "./run-rows.ts";
import { activeRun, type RunRecord, run } from "./schema/index.ts";
import type { SessionRows } from "./session-rows.ts";
import type { ToolCalls } from "./tool-calls.ts";
import type { Bodies } from "./types/common.ts";
import type { InterruptedRun, RunStore } from "./types/runs.ts";

interface Parts<T extends Bodies> {
  readonly fence: Fence;
  readonly inbox: InboxRows<T>;
  readonly sessions: SessionRows;
  readonly chain: MessageChain<T>;
  readonly calls: ToolCalls;
  readonly rows: RunRows;
}

const DEFAULT_LIMIT = 50;

function prepareStatements(database: Database) {
  const { db } = database;
  return {
    activeRuns: database.query(() =>
      db
        .select(getTableColumns(run))
        .from(activeRun)
        .innerJoin(run, eq(run.n, activeRun.run))
        .orderBy(asc(run.n)),
    ),
    byNumbers: database.query((p: Bound<{ numbers: string }>) =>
      db
        .select()
        .from(run)
        .where(inArray(run.n, sql`(SELECT value FROM json_each(${p("numbers")}))`)),
    ),
    newest: database.query((p: Bound<{ before: number; limit: number }>) =>
      db
        .select()
        .from(run)
        .where(lt(run.n, p("before")))
        .orderBy(desc(run.n))
        .limit(p("limit")),
    ),
    // Raw SQL, because Drizzle has no recursive queries.
    back: database.handWritten<{ head: number; key: string; before: number; limit: number }, { n: number }>(
      `WITH RECURSIVE chain AS (
         SELECT n, prev_run, session_key FROM run WHERE n = @head AND session_key = @key
         UNION ALL
         SELECT r.n, r.prev_run, r.session_key FROM chain JOIN run r ON r.n = chain.prev_run
         WHERE r.session_key = chain.session_key)
       SELECT n FROM chain WHERE n < @before LIMIT +@limit`,
    ),
  };
}

/** Creates the methods that read runs. */
export function createRunReads<T extends Bodies>(
  { database, queue }: Context,
  parts: Parts<T>,
): Pick<RunStore<T>, "interrupted" | "active" | "get" | "inspect" | "summaries" | "list"> {
  const { fence, inbox: messages, sessions, rows } = parts;
  const statements = prepareStatements(database);

  /** Returns the runs of a session, newest first. Each run points to the previous one. */
  function ofSession(key: string, before: number, limit: number): RunRecord[] {
    const state = sessions.load(key);
    const head = state?.active?.run ?? state?.record.lastRun ?? undefined;
    if (head === undefined) return [];
    const numbers = statements.back.all({ head, key, before, limit }).map(({ n }) => n);
    return statements.byNumbers.all({ numbers: JSON.stringify(numbers) }).toSorted((a, b) => b.n - a.n);
  }

  return {
    interrupted: (asker) =>
      queue.read(() => {
        fence.forget();
        return statements.activeRuns
          .all()
          .filter((record) => fence.lost(stampOf(record), asker))
          .map((record) => inspect(parts, record));
      }),

    active: () => queue.read(() => statements.activeRuns.all().map(rows.toRun)),

    get: (id) =>
      queue.read(() => {
        const record = rows.byId(id);
        return record === undefined ? undefined : rows.toRun(record);
      }),

    inspect: (id) =>
      queue.read(() => {
        const record = rows.byId(id);
        return record === undefined ? undefined : inspect(parts, record);
      }),

    summaries: (ids) =>
      queue.read(() => {
        const wanted = new Set<string>(ids);
        const numbers = JSON.stringify(ids.map(rowOf));
        const kept = statements.byNumbers.all({ numbers }).filter((record) => wanted.has(runIdOf(record)));
        const taken = messages.some(kept.flatMap(rows.messagesOf));
        return kept.map((record) => ({
          run: rows.toRun(record),
          inbox: rows.messagesOf(record).flatMap((seq) => taken.get(seq) ?? []),
        }));
      }),

    list: ({ sessionKey, before, limit = DEFAULT_LIMIT } = {}) =>
      queue.read(() => {
        const end = rowOrEnd(before);
        const records =
          sessionKey === undefined
            ? statements.newest.all({ before: end, limit })
            : ofSession(sessionKey, end, limit);
        return records.map(rows.toRun);
      }),
  };
}

function inspect<T extends Bodies>(
  { inbox: messages, sessions, chain, calls, rows }: Parts<T>,
  record: RunRecord,
): InterruptedRun<T> {
  const state = sessions.load(record.sessionKey);
  const last =
    record.state === "running" && state !== undefined ? sessions.head(state).lastEntry : record.lastEntry;
  return {
    run: rows.toRun(record),
    messages: chain.ofRun(last, record.sessionKey, record.n),
    calls: calls.of(record),
    inbox: rows.messagesOf(record).flatMap((seq) => messages.full(seq) ?? []),
  };
}
