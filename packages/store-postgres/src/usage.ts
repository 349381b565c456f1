import { dayOf, eachFigure } from "@signalbox/store/backend";
import type { UsageStore } from "@signalbox/store/types";
import { and, asc, eq, gte, lt, type SQLWrapper, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import { usageDay } from "./schema/index.ts";

/** PostgreSQL returns sums of large numbers as text. */
const sum = (column: SQLWrapper) => sql`sum(${column})`.mapWith(Number);

export function createUsageStore({ database }: Context): UsageStore {
  return {
    sum: ({ by, sessionKey, agentId, sender, from, to }) =>
      database.query((db) => {
        const group = {
          day: usageDay.day,
          agent: usageDay.agentId,
          session: usageDay.sessionKey,
          sender: usageDay.sender,
        }[by];
        return db
          .select({
            by: group,
            runs: sum(usageDay.runs),
            ...eachFigure((figure) => sum(usageDay[figure])),
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
          .orderBy(asc(group));
      }),
    series: ({ by, from }) =>
      database.query((db) => {
        const group = { agent: usageDay.agentId, session: usageDay.sessionKey, sender: usageDay.sender }[by];
        return db
          .select({
            day: usageDay.day,
            by: group,
            runs: sum(usageDay.runs),
            ...eachFigure((figure) => sum(usageDay[figure])),
          })
          .from(usageDay)
          .where(from === undefined ? undefined : gte(usageDay.day, dayOf(from)))
          .groupBy(usageDay.day, group)
          .orderBy(asc(usageDay.day), asc(group));
      }),
  };
}
