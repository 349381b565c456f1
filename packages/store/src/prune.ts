import type { Context } from "./context.ts";
import type { MessageChain } from "./messages.ts";
import { createExpiry } from "./prune-expired.ts";
import { createSessionSweeper } from "./prune-sessions.ts";
import { createSweepers, type Sweepers } from "./prune-sweeps.ts";
import { createTraceCaps } from "./prune-traces.ts";
import type { SessionRows } from "./session-rows.ts";
import type { Bodies } from "./types/common.ts";
import type { PruneReport, Retention } from "./types/maintenance.ts";

const dayMs = 86_400_000;
/** Retention time of budget spending, in milliseconds. Nothing queries periods before the current month. */
const budgetPeriodsMs = 62 * dayMs;
/**
 * Retention time of cached routes, in milliseconds. Each thread and each set of roles has its own routes, and a
 * configuration may stay unchanged for years.
 */
const routesMs = 30 * dayMs;
/** Retention time of nodes that do not report, in milliseconds. */
const nodesMs = 30 * dayMs;
/** Minimum share of each retention time that remains if the database is too large. */
const smallestShare = 1 / 256;

/** Creates the function that removes data beyond its retention time, maximum number or maximum size. */
export function createPruner(
  context: Context,
  sessions: SessionRows,
  chain: MessageChain<Bodies>,
): (retention: Retention) => Promise<PruneReport> {
  const { database, queue, now } = context;
  const sweepers = createSweepers(context);
  const expired = createExpiry(context);
  const capTraces = createTraceCaps(context);
  const sweepSessions = createSessionSweeper(context, sessions, chain);
  const used = database.handWritten<object, { bytes: number }>(
    `SELECT (page_count - freelist_count) * page_size AS bytes
     FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  );

  const usedBytes = () => queue.read(() => used.get()?.bytes ?? 0);

  return async (retention) => {
    const at = now();
    const { tried, throwIfAny } = collectFailures();
    const removed = await tried(sweepSessions(retention, at), 0);
    let swept = await sweepByAge(sweepers, retention, at, tried);
    const traces =
      (await tried(capTraces.rows(retention.traceRows ?? 200_000), 0)) +
      (await tried(capTraces.bytes(retention.traceBytes ?? 256 * 2 ** 20), 0));
    const dedupeMs = Math.max(retention.dedupeMs ?? 14 * dayMs, 7 * dayMs);
    const keys = await tried(expired.keys(at - dedupeMs), 0);
    const kv = await tried(expired.kv(at), 0);
    await tried(expired.pots(at - budgetPeriodsMs), undefined);
    await tried(expired.routes(at - routesMs), undefined);
    await tried(expired.nodes(at - nodesMs), undefined);
    const approvals = await tried(expired.approvals(at - (retention.approvalsMs ?? 90 * dayMs)), 0);
    const { databaseBytes = Number.POSITIVE_INFINITY } = retention;
    for (let share = 1 / 2; share >= smallestShare && (await usedBytes()) > databaseBytes; share /= 2)
      swept = sum(swept, await sweepByAge(sweepers, retention, at, tried, share));
    throwIfAny();
    return {
      ...swept,
      dedupe: keys,
      traces: swept.traces + traces,
      sessions: removed,
      kv,
      approvals,
      usedBytes: await usedBytes(),
    };
  };
}

type Tried = <T>(work: Promise<T>, otherwise: T) => Promise<T>;

/** Collects failures, so that a damaged table does not prevent the pruning of the others. */
function collectFailures(): { readonly tried: Tried; throwIfAny(): void } {
  const failures: unknown[] = [];
  return {
    tried: (work, otherwise) =>
      work.catch((error: unknown) => {
        failures.push(error);
        return otherwise;
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
  const limit = (ms: number) => at - ms * share;
  const hidden = limit(retention.hiddenMessagesMs ?? 90 * dayMs);
  return {
    inbox: await tried(sweepers.inbox(limit(retention.inboxMs ?? 7 * dayMs)), 0),
    runs: await tried(sweepers.runs(limit(retention.runsMs ?? 30 * dayMs)), 0),
    outbox: await tried(sweepers.outbox(limit(retention.outboxMs ?? 14 * dayMs)), 0),
    traces: await tried(sweepers.traces(limit(retention.tracesMs ?? 7 * dayMs)), 0),
    messages: (await tried(sweepers.messages(hidden), 0)) + (await tried(sweepers.groupHistory(hidden), 0)),
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
