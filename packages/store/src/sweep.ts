import { and, gt, lt, lte, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Context } from "./context.ts";
import type { Bound, Command, Query } from "./database.ts";

/** Rows looked at in one transaction. */
export const CHUNK = 250;

/** Some neighbouring rows of a table, and which of them are too old. */
export interface Stretch {
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
export interface Sweep {
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
export function isNotNewest(table: SQLiteTable, number: SQLiteColumn): SQL {
  return lt(number, sql`(SELECT max(${number}) FROM ${table})`);
}

export function inStretch(number: SQLiteColumn, { from, to }: Bound<Stretch>): SQL | undefined {
  return and(gt(number, from), lte(number, to));
}

/** Sweeps a table in transactions short enough to pass unnoticed between other people's. */
export function createSweeper(
  { database, queue, now }: Context,
  { table, number, time, goes, before, spared }: Sweep,
): Sweeper {
  const { db } = database;
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
      const { last, oldest } = await queue.read(() => look.get({ from }) ?? { last: null, oldest: null });
      if (last === null || oldest === null) return removed;
      // Where a clock was ahead for a while, the time of those rows says nothing of what came after them.
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
