import type { Context } from "./context.ts";
import type { DedupeIndex } from "./dedupe.ts";
import type { MessageChain } from "./messages.ts";
import type { SessionRows } from "./session-rows.ts";
import type { Bodies } from "./types/common.ts";
import type { PruneReport, Retention } from "./types/store.ts";

const dayMs = 86_400_000;
/** What is left of each time at most where the database is too large. */
const smallestShare = 1 / 256;
/** Rows looked at in one transaction. */
const chunk = 250;

/** Tables whose rows are numbered in the order of time. */
interface Sweep {
  readonly table: string;
  readonly number: string;
  /** When a row began; once a whole chunk is younger than the limit, so is everything after it. */
  readonly time: string;
  /** Which rows between ?1 (exclusive) and ?2 (inclusive) go, by the limit ?3; ?4 lists rows to be spared. */
  readonly where: string;
  /** What has to be done with the same rows first. */
  readonly before?: readonly string[];
  /** Gives the numbers of rows to be spared, where they do not tell it themselves. */
  readonly spared?: string;
}

/** The newest row stays: its number would be given out again. */
const notNewest = (table: string, number: string) => `${number} < (SELECT max(${number}) FROM ${table})`;

/**
 * Where a reply does not come, its messages have another end, and people are told: the run that made it, with its
 * messages, stays until it is out. Asked from the run's side, since any number of replies may wait.
 */
const unsent = (run: string) => `SELECT 1 FROM ${run} AS reply CROSS JOIN outbox ON outbox.seq = reply.value
      WHERE outbox.state IN ('pending', 'sending')`;

/** Only what the index against redelivery has: the others' keys stand in their rows. */
const inboxWhere = `seq > ?1 AND seq <= ?2 AND settled_at < ?3 AND seq <= (SELECT seq FROM dedupe_mark)
    AND ${notNewest("inbox", "seq")} AND seq NOT IN (SELECT value FROM json_each(?4))
    AND NOT EXISTS (${unsent("run CROSS JOIN json_each(run.outbox)")} AND run.n = inbox.run)`;
const runWhere = `n > ?1 AND n <= ?2 AND finished_at < ?3 AND ${notNewest("run", "n")}
    AND NOT EXISTS (${unsent("json_each(run.outbox)")})`;

const inboxSweep: Sweep = {
  table: "inbox",
  number: "seq",
  time: "received_at",
  where: inboxWhere,
  before: [`DELETE FROM entry WHERE id IN (SELECT entry FROM inbox WHERE ${inboxWhere})`],
  // No run tells of these. What is answered from now on ended too late to go.
  spared: `SELECT answered.value AS number FROM outbox CROSS JOIN json_each(outbox.answers) AS answered
    WHERE outbox.state IN ('pending', 'sending') AND outbox.answers IS NOT NULL`,
};

const runSweep: Sweep = {
  table: "run",
  number: "n",
  time: "started_at",
  where: runWhere,
  before: [
    `INSERT INTO usage_day (day, agent_id, session_key, runs, model_calls, input_tokens, output_tokens,
       cache_read_tokens, cache_write_tokens, cost_micros)
     SELECT date(finished_at / 1000, 'unixepoch'), agent_id, session_key, count(*), coalesce(sum(model_calls), 0),
       coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), coalesce(sum(cache_read_tokens), 0),
       coalesce(sum(cache_write_tokens), 0), coalesce(sum(cost_micros), 0)
     FROM run WHERE ${runWhere} GROUP BY 1, 2, 3
     ON CONFLICT (day, agent_id, session_key) DO UPDATE SET runs = runs + excluded.runs,
       model_calls = model_calls + excluded.model_calls, input_tokens = input_tokens + excluded.input_tokens,
       output_tokens = output_tokens + excluded.output_tokens,
       cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
       cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
       cost_micros = cost_micros + excluded.cost_micros`,
    `DELETE FROM tool_call WHERE run IN (SELECT n FROM run WHERE ${runWhere})`,
  ],
};

const outboxWhere = `seq > ?1 AND seq <= ?2 AND updated_at < ?3 AND state NOT IN ('pending', 'sending')
    AND ${notNewest("outbox", "seq")}`;

const outboxSweep: Sweep = {
  table: "outbox",
  number: "seq",
  time: "created_at",
  where: outboxWhere,
  before: [`DELETE FROM entry WHERE id IN (SELECT entry FROM outbox WHERE ${outboxWhere})`],
};

const traceSweep: Sweep = {
  table: "trace",
  number: "n",
  time: "at",
  where: "n > ?1 AND n <= ?2 AND at < ?3",
};

const messageSweep: Sweep = {
  table: "entry",
  number: "id",
  time: "at",
  where: `id > ?1 AND id <= ?2 AND at < ?3 AND kind IN ('message', 'summary') AND ${notNewest("entry", "id")}
    AND NOT EXISTS (
      SELECT 1 FROM session WHERE key = session_key AND generation = entry.generation AND floor_seq < entry.seq)`,
};

/** Pruning, in transactions short enough to pass unnoticed between other people's. */
export function createPruner(
  { database, queue, now }: Context,
  rows: SessionRows,
  chain: MessageChain<Bodies>,
  dedupe: DedupeIndex,
): (retention: Retention) => Promise<PruneReport> {
  function sweeper({
    table,
    number,
    time,
    where,
    before,
    spared,
  }: Sweep): (limit: number) => Promise<number> {
    const look = database.query<[number], { last: number | null; oldest: number | null }>(
      `SELECT max(${number}) AS last, min(${time}) AS oldest
       FROM (SELECT ${number}, ${time} FROM ${table} WHERE ${number} > ? ORDER BY ${number} LIMIT ${chunk})`,
    );
    const first = (before ?? []).map((sql) => database.command<[number, number, number, string]>(sql));
    const remove = database.command<[number, number, number, string]>(`DELETE FROM ${table} WHERE ${where}`);
    const toSpare = spared === undefined ? undefined : database.query<[], { number: number }>(spared);
    return async (limit) => {
      const kept = await queue.read(() => (toSpare?.all() ?? []).map((row) => row.number));
      let removed = 0;
      let from = 0;
      for (;;) {
        const { last, oldest } = look.get(from) ?? { last: null, oldest: null };
        if (last === null || oldest === null || oldest >= limit) return removed;
        const start = from;
        const keptHere = JSON.stringify(kept.filter((one) => one > start && one <= last));
        removed += await queue.write(() => {
          for (const command of first) command.run(start, last, limit, keptHere);
          return remove.run(start, last, limit, keptHere);
        });
        from = last;
      }
    };
  }

  const sweepInbox = sweeper(inboxSweep);
  const sweepRuns = sweeper(runSweep);
  const sweepOutbox = sweeper(outboxSweep);
  const sweepTraces = sweeper(traceSweep);
  const sweepMessages = sweeper(messageSweep);
  const removeKeys = database.command<[number, number, number]>(
    "DELETE FROM dedupe WHERE key >= ? AND key < ? AND day < ?",
  );
  const traceEnds = database.query<[], { first: number | null; last: number | null }>(
    "SELECT (SELECT min(n) FROM trace) AS first, (SELECT max(n) FROM trace) AS last",
  );
  const expiredKv = database.query<[number], { namespace: string; key: string }>(
    "SELECT namespace, key FROM kv WHERE expires_at <= ?",
  );
  const removeKv = database.command<[string, string, number]>(
    "DELETE FROM kv WHERE namespace = ? AND key = ? AND expires_at <= ?",
  );
  const idle = database.query<[number], { key: string }>(
    `SELECT key FROM session WHERE updated_at < ? AND key NOT IN (SELECT session_key FROM active_run)
       AND key NOT IN (SELECT session_key FROM inbox WHERE settled_at IS NULL AND session_key IS NOT NULL)`,
  );
  const nth = database.query<[number], { updated_at: number }>(
    "SELECT updated_at FROM session ORDER BY updated_at DESC LIMIT 1 OFFSET ?",
  );
  const traceSizes = database.query<[number], { n: number; bytes: number }>(
    `SELECT n, octet_length(entries) + octet_length(subject) + 16 AS bytes FROM trace WHERE n < ?
     ORDER BY n DESC LIMIT ${chunk}`,
  );
  const removeTraces = database.command<[number]>("DELETE FROM trace WHERE n <= ?");
  const used = database.query<[], { bytes: number }>(
    `SELECT (page_count - freelist_count) * page_size AS bytes
     FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  );
  const waitsIn = database.query<[string], { one: 1 }>(
    "SELECT 1 AS one FROM inbox WHERE settled_at IS NULL AND session_key = ? LIMIT 1",
  );
  const removeSession = database.command<[string]>("DELETE FROM session WHERE key = ?");

  /** The keys are hashes, in no order of time: one 256th of them in each transaction. */
  async function sweepKeys(limit: number): Promise<number> {
    const day = Math.floor(limit / dayMs);
    const slice = 2 ** 53 / 256;
    let removed = 0;
    for (let i = 0; i < 256; i += 1) {
      removed += await queue.write(() => removeKeys.run(i * slice, (i + 1) * slice, day));
    }
    return removed;
  }

  async function removeTracesTo(last: number): Promise<number> {
    const { first } = (await queue.read(() => traceEnds.get())) ?? {};
    let removed = 0;
    for (let n = (first ?? last + 1) - 1; n < last; n += chunk) {
      removed += await queue.write(() => removeTraces.run(Math.min(last, n + chunk)));
    }
    return removed;
  }

  async function capTraceRows(limit: number): Promise<number> {
    const { last } = (await queue.read(() => traceEnds.get())) ?? {};
    return typeof last === "number" ? removeTracesTo(last - limit) : 0;
  }

  async function sweepKv(at: number): Promise<number> {
    const expired = await queue.read(() => expiredKv.all(at));
    let removed = 0;
    for (let from = 0; from < expired.length; from += chunk) {
      removed += await queue.write(() =>
        expired
          .slice(from, from + chunk)
          .reduce((sum, { namespace, key }) => sum + removeKv.run(namespace, key, at), 0),
      );
    }
    return removed;
  }

  async function capTraceBytes(limit: number): Promise<number> {
    let bytes = 0;
    let before = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const sizes = await queue.read(() => traceSizes.all(before));
      for (const { n, bytes: size } of sizes) {
        bytes += size;
        if (bytes > limit) return removeTracesTo(n);
        before = n;
      }
      if (sizes.length < chunk) return 0;
      // Others have their turn between two looks.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function sweepSessions(limit: number): Promise<number> {
    let removed = 0;
    for (const { key } of await queue.read(() => idle.all(limit))) {
      removed += await queue.write(() => {
        const held = rows.load(key);
        if (held === undefined || held.active !== undefined || held.record.updated_at >= limit) return 0;
        // A message that came in after the look changes nothing in its session before its run begins.
        if (waitsIn.get(key) !== undefined) return 0;
        chain.remove(held.record, key);
        return removeSession.run(key);
      });
    }
    return removed;
  }

  const usedBytes = () => queue.read(() => used.get()?.bytes ?? 0);

  /** What goes by its age. `share` of each time is kept. */
  async function sweepByAge(retention: Retention, at: number, share: number) {
    const limit = (ms: number) => at - ms * share;
    return {
      inbox: await sweepInbox(limit(retention.inboxMs ?? 7 * dayMs)),
      runs: await sweepRuns(limit(retention.runsMs ?? 30 * dayMs)),
      outbox: await sweepOutbox(limit(retention.outboxMs ?? 14 * dayMs)),
      traces: await sweepTraces(limit(retention.tracesMs ?? 7 * dayMs)),
      messages: await sweepMessages(limit(retention.hiddenMessagesMs ?? 90 * dayMs)),
    };
  }

  async function sweepAllSessions({ idleSessionsMs, sessions }: Retention, at: number): Promise<number> {
    const old = idleSessionsMs === undefined ? 0 : await sweepSessions(at - idleSessionsMs);
    const last =
      sessions === undefined ? undefined : await queue.read(() => nth.get(Math.max(0, sessions - 1)));
    return old + (last === undefined ? 0 : await sweepSessions(last.updated_at));
  }

  return async (retention) => {
    const at = now();
    const dedupeMs = Math.max(retention.dedupeMs ?? 14 * dayMs, 7 * dayMs);
    const { databaseBytes = Number.POSITIVE_INFINITY } = retention;
    await dedupe.merge();
    const sessions = await sweepAllSessions(retention, at);
    let swept = await sweepByAge(retention, at, 1);
    const traces =
      (await capTraceRows(retention.traceRows ?? 200_000)) +
      (await capTraceBytes(retention.traceBytes ?? 256 * 2 ** 20));
    const dedupeKeys = await sweepKeys(at - dedupeMs);
    const kv = await sweepKv(at);
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
      ...{ dedupe: dedupeKeys, traces: swept.traces + traces, sessions, kv },
      usedBytes: await usedBytes(),
    };
  };
}
