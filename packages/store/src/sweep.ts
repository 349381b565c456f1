import { and, gt, lt, lte, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Context } from "./context.ts";
import type { Bound, Command, Query } from "./database.ts";

/** Rows per transaction. */
export const CHUNK = 250;

/** A range of rows and the age limit for them. */
export interface Stretch {
  /** Exclusive. */
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  /** Rows older than this time are removed. */
  readonly limit: number;
  /** Numbers of rows to keep, as JSON. */
  readonly spared: string;
}

/** A table whose row numbers are in the order of time. */
export interface Sweep {
  readonly table: SQLiteTable;
  readonly number: SQLiteColumn;
  /** Start time of a row. If a whole chunk is younger than the limit, so are all later rows. */
  readonly time: SQLiteColumn;
  /** Condition for rows of a range that are removed. */
  readonly goes: (p: Bound<Stretch>) => SQL | undefined;
  /** Commands for the same rows that run before the removal. */
  readonly before?: readonly Command<Stretch>[];
  /** Rows to keep, if the condition cannot express it. */
  readonly spared?: Query<object, { number: number }>;
}

/** Removes rows older than `limit` and returns their number. */
export type Sweeper = (limit: number) => Promise<number>;

/** Keeps the newest row, since SQLite would reuse its number. */
export function isNotNewest(table: SQLiteTable, number: SQLiteColumn): SQL {
  return lt(number, sql`(SELECT max(${number}) FROM ${table})`);
}

export function inStretch(number: SQLiteColumn, p: Bound<Stretch>): SQL | undefined {
  return and(gt(number, p("from")), lte(number, p("to")));
}

/** Creates a sweeper that works in short transactions between other calls. */
export function createSweeper(
  { database, queue, now }: Context,
  { table, number, time, goes, before, spared }: Sweep,
): Sweeper {
  const { db } = database;
  const look = database.query((p: Bound<{ from: number }>) => {
    const next = db
      .select({ number: sql<number>`${number}`.as("number"), time: sql<number>`${time}`.as("time") })
      .from(table)
      .where(gt(number, p("from")))
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
      const { last, oldest } = await queue.read(() => look.get({ from }) ?? { last: null, oldest: null });
      if (last === null || oldest === null) return removed;
      // Rows in the future mean that the clock was ahead for a while. Then later rows may be older.
      if (oldest >= limit && oldest <= now()) return removed;
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
