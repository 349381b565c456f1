import { and, isNotNull, isNull, lte, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Context } from "./context.ts";
import { type Bound, type Database, snakeCase } from "./database.ts";
import { eachFigure } from "./figures.ts";
import { activeRun, eachOf, run, usageDay, usageMark } from "./schema/index.ts";
import { CHUNK } from "./sweep.ts";
import type { Logger } from "./types/logger.ts";

/** Ended runs after which what they used is counted. */
const COUNT_AFTER = 8192;

/**
 * What runs used, by day. Each run's row has what it used itself; some thousands at a time are counted together, since
 * sums that were kept as runs end would write a page more with each message, and so would an index over all runs.
 */
export interface UsageCount {
  /** Inside the transaction that ends a run. */
  ended(): void;
  /** Counts the runs that have ended since. */
  count(): Promise<void>;
}

/** Whether what a run used is not among the sums of its day. */
export const isUncounted: SQL = sql`(
  ${run.n} > (SELECT coalesce(max(${usageMark.run}), 0) FROM ${usageMark})
  OR ${run.n} IN (SELECT going.value FROM ${usageMark} CROSS JOIN ${eachOf(usageMark.open)} AS going))`;

const isOver = isNotNull(run.finishedAt);

/** What one ended run used, as a row of `usage_day` has it. */
export function usedByRun() {
  return {
    day: sql<string>`date(${run.finishedAt} / 1000, 'unixepoch')`.as("day"),
    agentId: run.agentId,
    sessionKey: run.sessionKey,
    sender: run.sender,
    runs: sql<number>`1`.as("runs"),
    ...eachFigure((figure) => sql<number>`coalesce(${run[figure]}, 0)`.as(snakeCase(figure))),
  };
}

const added = (column: SQLiteColumn) => sql`${column} + excluded.${sql.identifier(snakeCase(column.name))}`;

function prepareStatements(database: Database) {
  const { db } = database;
  return {
    mark: database.query(() => db.select().from(usageMark)),
    putMark: database.replace(usageMark, [usageMark.one]),
    next: database.query((p: Bound<{ from: number }>) =>
      db
        .select({ n: run.n })
        .from(run)
        .where(sql`${run.n} > ${p("from")}`)
        .orderBy(run.n)
        .limit(CHUNK),
    ),
    open: database.query((p: Bound<{ to: number }>) =>
      db
        .select({ n: run.n })
        .from(run)
        .where(and(isUncounted, lte(run.n, p("to")), isNull(run.finishedAt))),
    ),
    goingOn: database.query((p: Bound<{ to: number }>) =>
      db
        .select({ n: activeRun.run })
        .from(activeRun)
        .where(lte(activeRun.run, p("to"))),
    ),
    add: database.command((p: Bound<{ to: number }>) =>
      db
        .insert(usageDay)
        .select(
          db
            .select(usedByRun())
            .from(run)
            .where(and(isUncounted, lte(run.n, p("to")), isOver)),
        )
        .onConflictDoUpdate({
          target: [usageDay.day, usageDay.agentId, usageDay.sessionKey, usageDay.sender],
          set: { runs: added(usageDay.runs), ...eachFigure((figure) => added(usageDay[figure])) },
        }),
    ),
  };
}

export function createUsageCount(
  { database, queue }: Context,
  logger: Pick<Logger, "warn"> | undefined,
): UsageCount {
  const statements = prepareStatements(database);
  let uncounted = 0;
  let counting = false;

  /** The mark. Where its list is damaged, the runs in it are those that still go on. */
  function mark(): { readonly run: number; readonly open: readonly number[] } {
    const { run: to, open } = statements.mark.get() ?? { run: 0, open: [] };
    if (open !== undefined) return { run: to, open };
    const goingOn = statements.goingOn.all({ to }).map(({ n }) => n);
    statements.putMark.run({ one: 1, run: to, open: goingOn });
    logger?.warn({ runs: goingOn.length }, "the list of runs to be counted was damaged, and is made anew");
    return { run: to, open: goingOn };
  }

  /** Says whether there may be more. */
  function countSome(): boolean {
    const { run: from, open: before } = mark();
    const next = statements.next.all({ from });
    const to = next.at(-1)?.n ?? from;
    statements.add.run({ to });
    const open = statements.open.all({ to }).map(({ n }) => n);
    if (to !== from || open.length !== before.length) statements.putMark.run({ one: 1, run: to, open });
    return next.length === CHUNK;
  }

  async function count(): Promise<void> {
    uncounted = 0;
    while (await queue.write(countSome));
  }

  return {
    ended() {
      uncounted += 1;
      if (counting || uncounted < COUNT_AFTER) return;
      counting = true;
      // One that fails is tried again after as many runs; until then, sums have to look at more of them.
      count()
        .catch(() => {})
        .finally(() => {
          counting = false;
        });
    },
    count,
  };
}
