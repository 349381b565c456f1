import { addUnknownModel, addUnknownModelByDay, dayOf, eachFigure } from "@signalbox/store/backend";
import type { DayUsage, UsageGroup, UsageStore } from "@signalbox/store/types";
import { and, asc, eq, gte, lt, type SQLWrapper, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import { usageDay, usageModelDay } from "./schema/index.ts";

type SumQuery = Parameters<UsageStore["sum"]>[0];
type SeriesQuery = Parameters<UsageStore["series"]>[0];

/** PostgreSQL returns sums of large numbers as text. */
const sumOf = (column: SQLWrapper) => sql`sum(${column})`.mapWith(Number);

export function createUsageStore({ database }: Context): UsageStore {
  function sum(query: Omit<SumQuery, "by">, by: SumQuery["by"]): Promise<UsageGroup[]> {
    const { sessionKey, agentId, sender, from, to } = query;
    const table = by === "model" ? usageModelDay : usageDay;
    const group = {
      day: table.day,
      agent: table.agentId,
      session: table.sessionKey,
      sender: table.sender,
      model: usageModelDay.model,
    }[by];
    return database.query((db) =>
      db
        .select({
          by: group,
          runs: sumOf(table.runs),
          ...eachFigure((figure) => sumOf(table[figure])),
        })
        .from(table)
        .where(
          and(
            sessionKey === undefined ? undefined : eq(table.sessionKey, sessionKey),
            agentId === undefined ? undefined : eq(table.agentId, agentId),
            sender === undefined ? undefined : eq(table.sender, sender),
            from === undefined ? undefined : gte(table.day, dayOf(from)),
            to === undefined ? undefined : lt(table.day, dayOf(to)),
          ),
        )
        .groupBy(group)
        .orderBy(asc(group)),
    );
  }

  function series({ from }: Pick<SeriesQuery, "from">, by: SeriesQuery["by"]): Promise<DayUsage[]> {
    const table = by === "model" ? usageModelDay : usageDay;
    const group = {
      agent: table.agentId,
      session: table.sessionKey,
      sender: table.sender,
      model: usageModelDay.model,
    }[by];
    return database.query((db) =>
      db
        .select({
          day: table.day,
          by: group,
          runs: sumOf(table.runs),
          ...eachFigure((figure) => sumOf(table[figure])),
        })
        .from(table)
        .where(from === undefined ? undefined : gte(table.day, dayOf(from)))
        .groupBy(table.day, group)
        .orderBy(asc(table.day), asc(group)),
    );
  }

  return {
    sum: async ({ by, ...query }) => {
      const groups = await sum(query, by);
      return by === "model" ? addUnknownModel(groups, await sum(query, "agent")) : groups;
    },
    series: async ({ by, ...query }) => {
      const groups = await series(query, by);
      return by === "model" ? addUnknownModelByDay(groups, await series(query, "agent")) : groups;
    },
  };
}
