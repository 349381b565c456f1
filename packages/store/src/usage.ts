import { and, asc, eq, gte, isNotNull, lt, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import type { Context } from "./context.ts";
import { StoreError } from "./errors.ts";
import { eachFigure, type Figures } from "./figures.ts";
import { run, usageDay } from "./schema/index.ts";
import type { RunUsage, UsageStore } from "./types/usage.ts";
import { isUncounted, usedByRun } from "./usage-count.ts";

/** The usage of a run: as reported, and with 0 for missing figures. */
export interface CheckedUsage {
  readonly reported: Figures<number | null>;
  readonly counted: Figures<number>;
}

/**
 * Checks that every figure is a non-negative integer, so that sums are exact.
 *
 * @throws StoreError `invalid`
 */
export function checkUsage(usage: RunUsage): CheckedUsage {
  for (const [name, value] of Object.entries(usage)) {
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 0)) {
      throw new StoreError(
        "invalid",
        `The usage figure ${name} is ${value}: it has to be a whole number from 0 up.`,
      );
    }
  }
  const filled = <V>(absent: V): Figures<number | V> => eachFigure((figure) => usage[figure] ?? absent);
  return { reported: filled(null), counted: filled(0) };
}

/** Returns the day (UTC) of a time in milliseconds. */
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

export function createUsageStore({ database, queue }: Context): UsageStore {
  const { db } = database;

  /** Ended runs, those that were counted (by day) and those that were not. */
  const all = () => {
    const counted = db.select().from(usageDay);
    const uncounted = db
      .select(usedByRun())
      .from(run)
      .where(and(isUncounted, isNotNull(run.finishedAt)));
    return unionAll(counted, uncounted).as("used");
  };

  return {
    sum: ({ by, sessionKey, agentId, sender, from, to }) =>
      queue.read(() => {
        const used = all();
        const group = { day: used.day, agent: used.agentId, session: used.sessionKey, sender: used.sender }[
          by
        ];
        return db
          .select({
            by: group,
            runs: sql<number>`sum(${used.runs})`,
            ...eachFigure((figure) => sql<number>`sum(${used[figure]})`),
          })
          .from(used)
          .where(
            and(
              sessionKey === undefined ? undefined : eq(used.sessionKey, sessionKey),
              agentId === undefined ? undefined : eq(used.agentId, agentId),
              sender === undefined ? undefined : eq(used.sender, sender),
              from === undefined ? undefined : gte(used.day, dayOf(from)),
              to === undefined ? undefined : lt(used.day, dayOf(to)),
            ),
          )
          .groupBy(group)
          .orderBy(asc(group))
          .all();
      }),
  };
}
