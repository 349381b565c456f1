import { and, asc, eq, gte, lt, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import { StoreError } from "./errors.ts";
import { eachFigure, type Figures } from "./figures.ts";
import { usageDay } from "./schema/index.ts";
import type { RunUsage, UsageStore } from "./types/usage.ts";

/** The usage of a run, once as reported and once with 0 for missing figures. */
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
        `The usage figure ${name} is ${value}: it must be a whole number, 0 or more.`,
      );
    }
  }
  const filled = <V>(absent: V): Figures<number | V> => eachFigure((figure) => usage[figure] ?? absent);
  return { reported: filled(null), counted: filled(0) };
}

/** Returns the day (UTC) of a time in milliseconds. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

export function createUsageStore({ database, queue }: Context): UsageStore {
  const { db } = database;
  return {
    sum: ({ by, sessionKey, agentId, sender, from, to }) =>
      queue.read(() => {
        const group = {
          day: usageDay.day,
          agent: usageDay.agentId,
          session: usageDay.sessionKey,
          sender: usageDay.sender,
        }[by];
        return db
          .select({
            by: group,
            runs: sql<number>`sum(${usageDay.runs})`,
            ...eachFigure((figure) => sql<number>`sum(${usageDay[figure]})`),
          })
          .from(usageDay)
          .where(
            and(
              sessionKey === undefined ? undefined : eq(usageDay.sessionKey, sessionKey),
              agentId === undefined ? undefined : eq(usageDay.agentId, agentId),
              sender === undefined ? undefined : eq(usageDay.sender, sender),
              from === undefined ? undefined : gte(usageDay.day, dayOf(from)),
              to === undefined ? undefined : lt(usageDay.day, dayOf(to)),
            ),
          )
          .groupBy(group)
          .orderBy(asc(group))
          .all();
      }),
  };
}
