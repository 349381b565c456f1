import type { PruneReport, Retention } from "@signalbox/store/types";
import { sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import { createExpiry } from "./prune-expired.ts";
import { pruneSessions } from "./prune-sessions.ts";
import { createSweepers, type Sweepers } from "./prune-sweeps.ts";
import { capTraceBytes, capTraceRows } from "./prune-traces.ts";
import { inbox, message, outbox, run, toolCall, trace } from "./schema/index.ts";
import { ONE_ROW } from "./transaction.ts";

const dayMs = 86_400_000;
/** Retention time of budget spending, in milliseconds. Nothing queries periods before the current month. */
const budgetPeriodsMs = 62 * dayMs;
/** Retention time of cached routes, in milliseconds. */
const routesMs = 30 * dayMs;
/** Retention time of nodes that do not report, in milliseconds. */
const nodesMs = 30 * dayMs;
/** Minimum share of each retention time that remains if the database is too large. */
const smallestShare = 1 / 256;

/** Creates the function that removes data beyond its retention time, maximum number or maximum size. */
export function createPruner(database: Database): (retention: Retention) => Promise<PruneReport> {
  const sweepers = createSweepers(database);
  const expired = createExpiry(database);

  return async (retention) => {
    const at = await readTime(database);
    const { tried, throwIfAny } = collectFailures();
    const sessions = await tried(pruneSessions(database, retention, at));
    let swept = await sweepByAge(sweepers, retention, at, tried);
    const traces =
      (await tried(capTraceRows(database, retention.traceRows ?? 200_000))) +
      (await tried(capTraceBytes(database, retention.traceBytes ?? 256 * 2 ** 20)));
    const dedupeMs = Math.max(retention.dedupeMs ?? 14 * dayMs, 7 * dayMs);
    const dedupe = await tried(expired.keys(at - dedupeMs));
    const kv = await tried(expired.kv(at));
    await tried(expired.pots(at - budgetPeriodsMs));
    await tried(expired.routes(at - routesMs));
    await tried(expired.nodes(at - nodesMs));
    const approvals = await tried(expired.approvals(at - (retention.approvalsMs ?? 90 * dayMs)));
    const { databaseBytes = Number.POSITIVE_INFINITY } = retention;
    let usedBytes = await measure(database);
    for (let share = 1 / 2; share >= smallestShare && usedBytes > databaseBytes; share /= 2) {
      swept = sum(swept, await sweepByAge(sweepers, retention, at, tried, share));
      usedBytes = await measure(database);
    }
    throwIfAny();
    return { ...swept, dedupe, traces: swept.traces + traces, sessions, kv, approvals, usedBytes };
  };
}

async function readTime(database: Database): Promise<number> {
  const rows = await database.query((db) => db.select({ at: database.now().mapWith(Number) }).from(ONE_ROW));
  return rows[0]?.at ?? Number.NaN;
}

/**
 * Returns the size of the large columns. The size of the files would not fall when rows are removed, because PostgreSQL
 * reuses their space.
 */
async function measure(database: Database): Promise<number> {
  const sizes = [
    sql`SELECT sum(pg_column_size(${message.body}) + 64) AS bytes FROM ${message}`,
    sql`SELECT sum(pg_column_size(${inbox.payload}) + 256) FROM ${inbox}`,
    sql`SELECT sum(pg_column_size(${outbox.payload}) + 256) FROM ${outbox}`,
    sql`SELECT sum(pg_column_size(${trace.entries}) + 64) FROM ${trace}`,
    sql`SELECT sum(pg_column_size(${toolCall.args}) + 64) FROM ${toolCall}`,
    sql`SELECT count(*) * 256 FROM ${run}`,
  ];
  const all = sql`(${sql.join(sizes, sql` UNION ALL `)}) AS sizes`;
  const [row] = await database.query((db) =>
    db.select({ bytes: sql<number>`coalesce(sum(bytes), 0)`.mapWith(Number) }).from(all),
  );
  return row?.bytes ?? 0;
}

type Tried = (work: Promise<number>) => Promise<number>;

/** Collects failures, so that a failure in one table does not prevent the pruning of the others. */
function collectFailures(): { readonly tried: Tried; throwIfAny(): void } {
  const failures: unknown[] = [];
  return {
    tried: (work) =>
      work.catch((error: unknown) => {
        failures.push(error);
        return 0;
      }),
    throwIfAny() {
      if (failures.length > 0) throw failures[0];
    },
  };
}

type SweptByAge = Readonly<Record<Exclude<keyof Sweepers, "groupHistory">, number>>;

/** Sweeps all tables by age, using the given `share` of each retention time. */
async function sweepByAge(
  sweepers: Sweepers,
  retention: Retention,
  at: number,
  tried: Tried,
  share = 1,
): Promise<SweptByAge> {
  const limit = (ms: number) => Math.floor(at - ms * share);
  const hidden = limit(retention.hiddenMessagesMs ?? 90 * dayMs);
  return {
    inbox: await tried(sweepers.inbox(limit(retention.inboxMs ?? 7 * dayMs))),
    runs: await tried(sweepers.runs(limit(retention.runsMs ?? 30 * dayMs))),
    outbox: await tried(sweepers.outbox(limit(retention.outboxMs ?? 14 * dayMs))),
    traces: await tried(sweepers.traces(limit(retention.tracesMs ?? 7 * dayMs))),
    messages: (await tried(sweepers.messages(hidden))) + (await tried(sweepers.groupHistory(hidden))),
  };
}

function sum(a: SweptByAge, b: SweptByAge): SweptByAge {
  return {
    inbox: a.inbox + b.inbox,
    runs: a.runs + b.runs,
    outbox: a.outbox + b.outbox,
    traces: a.traces + b.traces,
    messages: a.messages + b.messages,
  };
}
