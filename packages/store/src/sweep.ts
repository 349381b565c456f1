import { and, gt, lt, lte, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Context } from "./context.ts";
import type { Bound, Command, Query } from "./database.ts";

/** Number of rows per transaction. */
export const CHUNK = 250;

/** A range of rows and the age limit that applies to them. */
export interface Stretch {
  /** Exclusive. */
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  /** Rows older than this time are removed. */
  readonly limit: number;
  /** Numbers of the rows to keep, as JSON. */
  readonly spared: string;
}

/** A table whose row numbers are in chronological order. */
export interface Sweep {
  readonly table: SQLiteTable;
  readonly number: SQLiteColumn;
  /** Start time of a row. If a whole chunk is newer than the limit, so are all later rows. */
  readonly time: SQLiteColumn;
  /** Selects the rows of a range to remove. */
  readonly goes: (p: Bound<Stretch>) => SQL | undefined;
  /** Commands to run on the same rows before they are removed. */
  readonly before?: readonly Command<Stretch>[];
  /** Selects rows to keep, if the condition cannot express this. */
  readonly spared?: Query<object, { number: number }>;
}

/** Removes rows older than `limit` and returns their number. */
export type Sweeper = (limit: number) => Promise<number>;

/** Excludes the newest row, because SQLite would reuse its number. */
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
      // Rows with a time in the future mean that the clock was temporarily ahead. Later rows may then be older.
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
