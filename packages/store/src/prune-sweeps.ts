import { and, eq, gt, inArray, lt, lte, notExists, notInArray, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Context } from "./context.ts";
import { type Bound, type Command, type Query, snakeCase } from "./database.ts";
import {
  dedupeMark,
  entry,
  inbox,
  isUnsent,
  messageContext,
  outbox,
  run,
  session,
  toldHistory,
  toolCall,
  trace,
  usageDay,
} from "./schema/index.ts";

/** Rows looked at in one transaction. */
export const CHUNK = 250;

/** Some neighbouring rows of a table, and which of them are too old. */
interface Stretch {
  /** Exclusive. */
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  /** What is older than this time goes. */
  readonly limit: number;
  /** Numbers of rows to be spared, as JSON. */
  readonly spared: string;
}

/** A table whose rows are numbered in the order of time. */
interface Sweep {
  readonly table: SQLiteTable;
  readonly number: SQLiteColumn;
  /** When a row began; once a whole chunk is younger than the limit, so is everything after it. */
  readonly time: SQLiteColumn;
  /** Which rows of a stretch go. */
  readonly goes: (p: Bound<Stretch>) => SQL | undefined;
  /** What has to be done with the same rows first. */
  readonly before?: readonly Command<Stretch>[];
  /** The rows to be spared, where they do not tell it themselves. */
  readonly spared?: Query<object, { number: number }>;
}

/** Removes what is older than `limit`; gives the number of rows. */
export type Sweeper = (limit: number) => Promise<number>;

/** The newest row stays: SQLite would give its number out again. */
function isNotNewest(table: SQLiteTable, number: SQLiteColumn): SQL {
  return lt(number, sql`(SELECT max(${number}) FROM ${table})`);
}

function inStretch(number: SQLiteColumn, { from, to }: Bound<Stretch>): SQL | undefined {
  return and(gt(number, from), lte(number, to));
}

/** In transactions short enough to pass unnoticed between other people's. */
export function createSweepers({ database, queue }: Context): {
  readonly [Name in "inbox" | "runs" | "outbox" | "traces" | "messages"]: Sweeper;
} {
  const { db } = database;

  function sweeper({ table, number, time, goes, before, spared }: Sweep): Sweeper {
    const look = database.query((p: Bound<{ from: number }>) => {
      const next = db
        .select({ number: sql<number>`${number}`.as("number"), time: sql<number>`${time}`.as("time") })
        .from(table)
        .where(gt(number, p.from))
        .orderBy(number)
        .limit(CHUNK)
        .as("next");
      return db
        .select({
          last: sql<number | null>`max(${next.number})`,
          oldest: sql<number | null>`min(${next.time})`,
        })
        .from(next);
    });
    const remove = database.command((p: Bound<Stretch>) => db.delete(table).where(goes(p)));
    return async (limit) => {
      const kept = await queue.read(() => (spared?.all() ?? []).map((row) => row.number));
      let removed = 0;
      let from = 0;
      for (;;) {
        const { last, oldest } = look.get({ from }) ?? { last: null, oldest: null };
        if (last === null || oldest === null || oldest >= limit) return removed;
        const sparedHere = kept.filter((seq) => seq > from && seq <= last);
        const stretch = { from, to: last, limit, spared: JSON.stringify(sparedHere) };
        removed += await queue.write(() => {
          for (const command of before ?? []) command.run(stretch);
          return remove.run(stretch).changes;
        });
        from = last;
      }
    };
  }

  /** Of the rows of a table that go, the bodies too. */
  function removeBodies(table: typeof inbox | typeof outbox, goes: Sweep["goes"]): Command<Stretch> {
    return database.command((p: Bound<Stretch>) =>
      db.delete(entry).where(inArray(entry.id, db.select({ id: table.entry }).from(table).where(goes(p)))),
    );
  }

  /**
   * Where a reply does not come, its messages have another end, and people are told: the run that made it, with its
   * messages, stays until it is out. Asked from the run's side, since any number of replies may wait.
   */
  const unsentOf = (runs: SQL) =>
    sql`(SELECT 1 FROM ${runs} AS reply CROSS JOIN ${outbox} ON ${outbox.seq} = reply.value WHERE ${isUnsent}`;
  const runReplies = sql`json_each(${run.outbox})`;

  // Only what the index against redelivery has: the others' keys stand in their rows.
  const inboxGoes: Sweep["goes"] = (p) =>
    and(
      inStretch(inbox.seq, p),
      lt(inbox.settledAt, p.limit),
      lte(inbox.seq, sql`(SELECT ${dedupeMark.seq} FROM ${dedupeMark})`),
      isNotNewest(inbox, inbox.seq),
      notInArray(inbox.seq, sql`(SELECT value FROM json_each(${p.spared}))`),
      notExists(sql`${unsentOf(sql`${run} CROSS JOIN ${runReplies}`)} AND ${run.n} = ${inbox.run})`),
    );
  const runGoes: Sweep["goes"] = (p) =>
    and(
      inStretch(run.n, p),
      lt(run.finishedAt, p.limit),
      isNotNewest(run, run.n),
      notExists(sql`${unsentOf(runReplies)})`),
    );
  const outboxGoes: Sweep["goes"] = (p) =>
    and(
      inStretch(outbox.seq, p),
      lt(outbox.updatedAt, p.limit),
      sql`NOT (${isUnsent})`,
      isNotNewest(outbox, outbox.seq),
    );
  const messageGoes: Sweep["goes"] = (p) =>
    and(
      inStretch(entry.id, p),
      lt(entry.at, p.limit),
      inArray(entry.kind, ["message", "summary"]),
      isNotNewest(entry, entry.id),
      notExists(
        db
          .select({ key: session.key })
          .from(session)
          .where(
            and(
              eq(session.key, entry.sessionKey),
              eq(session.generation, entry.generation),
              lt(session.floorSeq, entry.seq),
            ),
          ),
      ),
    );

  const added = (column: SQLiteColumn) => sql`${column} + excluded.${sql.identifier(snakeCase(column.name))}`;
  const total = (column: SQLiteColumn, name: string) => sql<number>`coalesce(sum(${column}), 0)`.as(name);
  /** What the runs used is kept by day. */
  const keepUsage = database.command((p: Bound<Stretch>) =>
    db
      .insert(usageDay)
      .select(
        db
          .select({
            day: sql<string>`date(${run.finishedAt} / 1000, 'unixepoch')`.as("day"),
            agentId: run.agentId,
            sessionKey: run.sessionKey,
            sender: run.sender,
            runs: sql<number>`count(*)`.as("runs"),
            modelCalls: total(run.modelCalls, "model_calls"),
            inputTokens: total(run.inputTokens, "input_tokens"),
            outputTokens: total(run.outputTokens, "output_tokens"),
            cacheReadTokens: total(run.cacheReadTokens, "cache_read_tokens"),
            cacheWriteTokens: total(run.cacheWriteTokens, "cache_write_tokens"),
            costMicros: total(run.costMicros, "cost_micros"),
          })
          .from(run)
          .where(runGoes(p))
          .groupBy(sql`1`, run.agentId, run.sessionKey, run.sender),
      )
      .onConflictDoUpdate({
        target: [usageDay.day, usageDay.agentId, usageDay.sessionKey, usageDay.sender],
        set: {
          runs: added(usageDay.runs),
          modelCalls: added(usageDay.modelCalls),
          inputTokens: added(usageDay.inputTokens),
          outputTokens: added(usageDay.outputTokens),
          cacheReadTokens: added(usageDay.cacheReadTokens),
          cacheWriteTokens: added(usageDay.cacheWriteTokens),
          costMicros: added(usageDay.costMicros),
        },
      }),
  );
  const removeCalls = database.command((p: Bound<Stretch>) =>
    db.delete(toolCall).where(inArray(toolCall.run, db.select({ n: run.n }).from(run).where(runGoes(p)))),
  );
  const goneMessages = (p: Bound<Stretch>) =>
    db.select({ key: entry.sessionKey, seq: entry.seq }).from(entry).where(messageGoes(p));
  const removeContexts = database.command((p: Bound<Stretch>) =>
    db
      .delete(messageContext)
      .where(sql`(${messageContext.sessionKey}, ${messageContext.seq}) IN ${goneMessages(p)}`),
  );
  const removeTold = database.command((p: Bound<Stretch>) =>
    db.delete(toldHistory).where(sql`(${toldHistory.sessionKey}, ${toldHistory.seq}) IN ${goneMessages(p)}`),
  );
  // No run tells of these. What is answered from now on ended too late to go.
  const answeredByUnsent = database.handWritten<object, { number: number }>(
    `SELECT answered.value AS number FROM outbox CROSS JOIN json_each(outbox.answers) AS answered
     WHERE outbox.state IN ('pending', 'sending')`,
  );

  return {
    inbox: sweeper({
      table: inbox,
      number: inbox.seq,
      time: inbox.receivedAt,
      goes: inboxGoes,
      before: [removeBodies(inbox, inboxGoes)],
      spared: answeredByUnsent,
    }),
    runs: sweeper({
      table: run,
      number: run.n,
      time: run.startedAt,
      goes: runGoes,
      before: [keepUsage, removeCalls],
    }),
    outbox: sweeper({
      table: outbox,
      number: outbox.seq,
      time: outbox.createdAt,
      goes: outboxGoes,
      before: [removeBodies(outbox, outboxGoes)],
    }),
    traces: sweeper({
      table: trace,
      number: trace.n,
      time: trace.at,
      goes: (p) => and(inStretch(trace.n, p), lt(trace.at, p.limit)),
    }),
    messages: sweeper({
      table: entry,
      number: entry.id,
      time: entry.at,
      goes: messageGoes,
      before: [removeContexts, removeTold],
    }),
  };
}
