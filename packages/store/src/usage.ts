import { and, asc, eq, gte, lt, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import { dayOf, eachFigure } from "./figures.ts";
import { usageDay } from "./schema/index.ts";
import type { UsageStore } from "./types/usage.ts";

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
    series: ({ by, from }) =>
      queue.read(() => {
        const group = { agent: usageDay.agentId, session: usageDay.sessionKey, sender: usageDay.sender }[by];
        return db
          .select({
            day: usageDay.day,
            by: group,
            runs: sql<number>`sum(${usageDay.runs})`,
            ...eachFigure((figure) => sql<number>`sum(${usageDay[figure]})`),
          })
          .from(usageDay)
          .where(from === undefined ? undefined : gte(usageDay.day, dayOf(from)))
          .groupBy(usageDay.day, group)
          .orderBy(asc(usageDay.day), asc(group))
          .all();
      }),
  };
}
