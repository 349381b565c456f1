import { and, asc, eq, gte, isNotNull, lt, type SQLWrapper, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import type { Context } from "./context.ts";
import { StoreError } from "./errors.ts";
import { run, usageDay } from "./schema/index.ts";
import type { RunUsage, UsageStore } from "./types/runs.ts";

type Figures<V> = { [Name in keyof Required<RunUsage>]: V };

/** A run's usage: as reported, and with 0 for what was not. */
export interface CheckedUsage {
  readonly reported: Figures<number | null>;
  readonly counted: Figures<number>;
}

/** @throws StoreError `invalid` unless every figure is a whole number from 0 up: sums have to be exact */
export function checkUsage(usage: RunUsage): CheckedUsage {
  for (const [name, value] of Object.entries(usage)) {
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 0)) {
      throw new StoreError(
        "invalid",
        `The usage figure ${name} is ${value}: it has to be a whole number from 0 up.`,
      );
    }
  }
  const filled = <V>(absent: V): Figures<number | V> => ({
    modelCalls: usage.modelCalls ?? absent,
    inputTokens: usage.inputTokens ?? absent,
    outputTokens: usage.outputTokens ?? absent,
    cacheReadTokens: usage.cacheReadTokens ?? absent,
    cacheWriteTokens: usage.cacheWriteTokens ?? absent,
    costMicros: usage.costMicros ?? absent,
  });
  return { reported: filled(null), counted: filled(0) };
}

/** The day (UTC) of a time in milliseconds. */
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

export function createUsageStore({ database, queue }: Context): UsageStore {
  const { db } = database;

  /** Ended runs, those that were pruned (by day) and those that were not. */
  const all = () => {
    const pruned = db.select().from(usageDay);
    const kept = db
      .select({
        day: sql<string>`date(${run.finishedAt} / 1000, 'unixepoch')`.as("day"),
        agentId: run.agentId,
        sessionKey: run.sessionKey,
        sender: run.sender,
        runs: sql<number>`1`.as("runs"),
        modelCalls: sql<number>`coalesce(${run.modelCalls}, 0)`.as("model_calls"),
        inputTokens: sql<number>`coalesce(${run.inputTokens}, 0)`.as("input_tokens"),
        outputTokens: sql<number>`coalesce(${run.outputTokens}, 0)`.as("output_tokens"),
        cacheReadTokens: sql<number>`coalesce(${run.cacheReadTokens}, 0)`.as("cache_read_tokens"),
        cacheWriteTokens: sql<number>`coalesce(${run.cacheWriteTokens}, 0)`.as("cache_write_tokens"),
        costMicros: sql<number>`coalesce(${run.costMicros}, 0)`.as("cost_micros"),
      })
      .from(run)
      .where(isNotNull(run.finishedAt));
    return unionAll(pruned, kept).as("used");
  };

  return {
    sum: ({ by, sessionKey, agentId, sender, from, to }) =>
      queue.read(() => {
        const used = all();
        const group = { day: used.day, agent: used.agentId, session: used.sessionKey, sender: used.sender }[
          by
        ];
        const total = (column: SQLWrapper) => sql<number>`sum(${column})`;
        return db
          .select({
            by: group,
            runs: total(used.runs),
            modelCalls: total(used.modelCalls),
            inputTokens: total(used.inputTokens),
            outputTokens: total(used.outputTokens),
            cacheReadTokens: total(used.cacheReadTokens),
            cacheWriteTokens: total(used.cacheWriteTokens),
            costMicros: total(used.costMicros),
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
