import { and, asc, eq, gte, lt, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import { addUnknownModel, addUnknownModelByDay, dayOf, eachFigure } from "./figures.ts";
import { usageDay, usageModelDay } from "./schema/index.ts";
import type { DayUsage, UsageGroup, UsageStore } from "./types/usage.ts";

type SumQuery = Parameters<UsageStore["sum"]>[0];
type SeriesQuery = Parameters<UsageStore["series"]>[0];

export function createUsageStore({ database, queue }: Context): UsageStore {
  const { db } = database;

  function sum(query: Omit<SumQuery, "by">, by: SumQuery["by"]): UsageGroup[] {
    const { sessionKey, agentId, sender, from, to } = query;
    const table = by === "model" ? usageModelDay : usageDay;
    const group = {
      day: table.day,
      agent: table.agentId,
      session: table.sessionKey,
      sender: table.sender,
      model: usageModelDay.model,
    }[by];
    return db
      .select({
        by: group,
        runs: sql<number>`sum(${table.runs})`,
        ...eachFigure((figure) => sql<number>`sum(${table[figure]})`),
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
      .orderBy(asc(group))
      .all();
  }

  function series({ from }: Pick<SeriesQuery, "from">, by: SeriesQuery["by"]): DayUsage[] {
    const table = by === "model" ? usageModelDay : usageDay;
    const group = {
      agent: table.agentId,
      session: table.sessionKey,
      sender: table.sender,
      model: usageModelDay.model,
    }[by];
    return db
      .select({
        day: table.day,
        by: group,
        runs: sql<number>`sum(${table.runs})`,
        ...eachFigure((figure) => sql<number>`sum(${table[figure]})`),
      })
      .from(table)
      .where(from === undefined ? undefined : gte(table.day, dayOf(from)))
      .groupBy(table.day, group)
      .orderBy(asc(table.day), asc(group))
      .all();
  }

  return {
    sum: ({ by, ...query }) =>
      queue.read(() => {
        const groups = sum(query, by);
        return by === "model" ? addUnknownModel(groups, sum(query, "agent")) : groups;
      }),
    series: ({ by, ...query }) =>
      queue.read(() => {
        const groups = series(query, by);
        return by === "model" ? addUnknownModelByDay(groups, series(query, "agent")) : groups;
      }),
  };
}
