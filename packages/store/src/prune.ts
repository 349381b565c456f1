import { and, asc, desc, eq, gte, inArray, isNull, lt, lte, max, min, notInArray, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import type { DedupeIndex } from "./dedupe.ts";
import type { MessageChain } from "./messages.ts";
import { CHUNK, createSweepers } from "./prune-sweeps.ts";
import { activeRun, approval, budgetPot, dedupe, inbox, kv, session, trace } from "./schema/index.ts";
import type { SessionRows } from "./session-rows.ts";
import type { Bodies } from "./types/common.ts";
import type { PruneReport, Retention } from "./types/store.ts";

const dayMs = 86_400_000;
/** For how long is kept what was spent of budgets: nobody asks for more than the present month. */
const budgetPeriodsMs = 62 * dayMs;
/** What is left of each time at most where the database is too large. */
const smallestShare = 1 / 256;
/** The keys against redelivery are hashes of 53 bits; so many stretches of them are looked through one by one. */
const keyStretches = 256;

/** Removes what is over its time, number or bytes. */
export function createPruner(
  context: Context,
  sessions: SessionRows,
  chain: MessageChain<Bodies>,
  dedupeIndex: DedupeIndex,
): (retention: Retention) => Promise<PruneReport> {
  const { database, queue, now } = context;
  const { db } = database;
  const sweepers = createSweepers(context);
  const removeKeys = database.command((p: Bound<{ from: number; to: number; day: number }>) =>
    db.delete(dedupe).where(and(gte(dedupe.key, p.from), lt(dedupe.key, p.to), lt(dedupe.day, p.day))),
  );
  const removeApprovals = database.command((p: Bound<{ limit: number }>) => {
    const old = db
      .select({ n: approval.n })
      .from(approval)
      .where(lt(approval.createdAt, p.limit))
      .limit(CHUNK);
    return db.delete(approval).where(inArray(approval.n, old));
  });
  const oldestTrace = database.query(() => db.select({ n: min(trace.n) }).from(trace));
  const newestTrace = database.query(() => db.select({ n: max(trace.n) }).from(trace));
  const removeTraces = database.command((p: Bound<{ to: number }>) =>
    db.delete(trace).where(lte(trace.n, p.to)),
  );
  const traceSizes = database.query((p: Bound<{ before: number }>) =>
    db
      .select({
        n: trace.n,
        bytes: sql<number>`octet_length(${trace.entries}) + octet_length(${trace.subject}) + 16`,
      })
      .from(trace)
      .where(lt(trace.n, p.before))
      .orderBy(desc(trace.n))
      .limit(CHUNK),
  );
  const removeKv = database.command((p: Bound<{ at: number }>) => {
    const expired = db
      .select({ namespace: kv.namespace, key: kv.key })
      .from(kv)
      .where(lte(kv.expiresAt, p.at))
      .limit(CHUNK);
    return db.delete(kv).where(sql`(${kv.namespace}, ${kv.key}) IN ${expired}`);
  });
  const removePots = database.command((p: Bound<{ before: string }>) =>
    db.delete(budgetPot).where(lt(budgetPot.period, p.before)),
  );
  const waitsIn = database.query((p: Bound<{ key: string }>) =>
    db
      .select({ seq: inbox.seq })
      .from(inbox)
      .where(and(isNull(inbox.settledAt), eq(inbox.sessionKey, p.key)))
      .limit(1),
  );
  const idleSince = database.query((p: Bound<{ limit: number }>) =>
    db
      .select({ key: session.key })
      .from(session)
      .where(
        and(
          lte(session.updatedMinute, sql`${p.limit} / 60000`),
          lt(session.updatedAt, p.limit),
          notInArray(session.key, db.select({ key: activeRun.sessionKey }).from(activeRun)),
        ),
      )
      .orderBy(asc(session.updatedMinute)),
  );
  const nthNewest = database.query((p: Bound<{ n: number }>) =>
    db
      .select({ updatedAt: session.updatedAt })
      .from(session)
      .orderBy(desc(session.updatedMinute), desc(session.updatedAt))
      .limit(1)
      .offset(p.n),
  );
  const removeSession = database.command((p: Bound<{ key: string }>) =>
    db.delete(session).where(eq(session.key, p.key)),
  );
  const used = database.handWritten<object, { bytes: number }>(
    `SELECT (page_count - freelist_count) * page_size AS bytes
     FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  );

  async function sweepKeys(limit: number): Promise<number> {
    const day = Math.floor(limit / dayMs);
    const stretch = 2 ** 53 / keyStretches;
    let removed = 0;
    for (let i = 0; i < keyStretches; i += 1) {
      const keys = { from: i * stretch, to: (i + 1) * stretch, day };
      removed += await queue.write(() => removeKeys.run(keys).changes);
    }
    return removed;
  }

  /** Removes some at a time, until nothing is left. */
  async function inChunks(removeSome: () => number): Promise<number> {
    let removed = 0;
    for (;;) {
      const some = await queue.write(removeSome);
      removed += some;
      if (some < CHUNK) return removed;
    }
  }

  async function removeTracesTo(last: number): Promise<number> {
    const first = (await queue.read(() => oldestTrace.get()?.n)) ?? last + 1;
    let removed = 0;
    for (let n = first - 1; n < last; n += CHUNK) {
      removed += await queue.write(() => removeTraces.run({ to: Math.min(last, n + CHUNK) }).changes);
    }
    return removed;
  }

  async function capTraceRows(limit: number): Promise<number> {
    const last = await queue.read(() => newestTrace.get()?.n);
    return typeof last === "number" ? removeTracesTo(last - limit) : 0;
  }

  async function capTraceBytes(limit: number): Promise<number> {
    let bytes = 0;
    let before = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const sizes = await queue.read(() => traceSizes.all({ before }));
      for (const { n, bytes: size } of sizes) {
        bytes += size;
        if (bytes > limit) return removeTracesTo(n);
        before = n;
      }
      if (sizes.length < CHUNK) return 0;
      // Others have their turn between two looks.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function sweepSessions(limit: number): Promise<number> {
    let removed = 0;
    for (const { key } of await queue.read(() => idleSince.all({ limit }))) {
      removed += await queue.write(() => {
        const state = sessions.load(key);
        if (state === undefined || state.active !== undefined || state.record.updatedAt >= limit) return 0;
        // A message that came in changes nothing in its session before its run begins.
        if (waitsIn.get({ key }) !== undefined) return 0;
        chain.remove(state.record, key);
        return removeSession.run({ key }).changes;
      });
    }
    return removed;
  }

  const usedBytes = () => queue.read(() => used.get()?.bytes ?? 0);

  /** What goes by its age. `share` of each time is kept. */
  async function sweepByAge(retention: Retention, at: number, share: number) {
    const limit = (ms: number) => at - ms * share;
    return {
      inbox: await sweepers.inbox(limit(retention.inboxMs ?? 7 * dayMs)),
      runs: await sweepers.runs(limit(retention.runsMs ?? 30 * dayMs)),
      outbox: await sweepers.outbox(limit(retention.outboxMs ?? 14 * dayMs)),
      traces: await sweepers.traces(limit(retention.tracesMs ?? 7 * dayMs)),
      messages: await sweepers.messages(limit(retention.hiddenMessagesMs ?? 90 * dayMs)),
    };
  }

  async function sweepAllSessions(
    { idleSessionsMs, sessions: keep }: Retention,
    at: number,
  ): Promise<number> {
    const old = idleSessionsMs === undefined ? 0 : await sweepSessions(at - idleSessionsMs);
    const last =
      keep === undefined ? undefined : await queue.read(() => nthNewest.get({ n: Math.max(0, keep - 1) }));
    return old + (last === undefined ? 0 : await sweepSessions(last.updatedAt));
  }

  return async (retention) => {
    const at = now();
    const dedupeMs = Math.max(retention.dedupeMs ?? 14 * dayMs, 7 * dayMs);
    const { databaseBytes = Number.POSITIVE_INFINITY } = retention;
    await dedupeIndex.merge();
    const sessionsRemoved = await sweepAllSessions(retention, at);
    let swept = await sweepByAge(retention, at, 1);
    const traces =
      (await capTraceRows(retention.traceRows ?? 200_000)) +
      (await capTraceBytes(retention.traceBytes ?? 256 * 2 ** 20));
    const dedupeKeys = await sweepKeys(at - dedupeMs);
    const kvRemoved = await inChunks(() => removeKv.run({ at }).changes);
    // The period of a month sorts before its days. What `usage` sums is kept elsewhere.
    const periodsBefore = new Date(at - budgetPeriodsMs).toISOString().slice(0, 7);
    await queue.write(() => removePots.run({ before: periodsBefore }));
    const approvalsBefore = at - (retention.approvalsMs ?? 90 * dayMs);
    const approvals = await inChunks(() => removeApprovals.run({ limit: approvalsBefore }).changes);
    for (let share = 1 / 2; share >= smallestShare && (await usedBytes()) > databaseBytes; share /= 2) {
      const more = await sweepByAge(retention, at, share);
      swept = {
        inbox: swept.inbox + more.inbox,
        runs: swept.runs + more.runs,
        outbox: swept.outbox + more.outbox,
        traces: swept.traces + more.traces,
        messages: swept.messages + more.messages,
      };
    }
    return {
      ...swept,
      dedupe: dedupeKeys,
      traces: swept.traces + traces,
      sessions: sessionsRemoved,
      kv: kvRemoved,
      approvals,
      usedBytes: await usedBytes(),
    };
  };
}
