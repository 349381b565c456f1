import { pgTable, primaryKey } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** Usage of runs, summed by day. */
export const usageDay = pgTable(
  "usage_day",
  {
    day: string().notNull(),
    agentId: string().notNull(),
    sessionKey: string().notNull(),
    sender: string().notNull().default(""),
    runs: integer().notNull(),
    modelCalls: integer().notNull(),
    inputTokens: integer().notNull(),
    outputTokens: integer().notNull(),
    cacheReadTokens: integer().notNull(),
    cacheWriteTokens: integer().notNull(),
    costMicros: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.day, t.agentId, t.sessionKey, t.sender] })],
);

/** Usage of runs by model, summed by day. Runs without a known model are only in `usage_day`. */
export const usageModelDay = pgTable(
  "usage_model_day",
  {
    day: string().notNull(),
    agentId: string().notNull(),
    sessionKey: string().notNull(),
    sender: string().notNull(),
    model: string().notNull(),
    runs: integer().notNull(),
    modelCalls: integer().notNull(),
    inputTokens: integer().notNull(),
    outputTokens: integer().notNull(),
    cacheReadTokens: integer().notNull(),
    cacheWriteTokens: integer().notNull(),
    costMicros: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.day, t.agentId, t.sessionKey, t.sender, t.model] })],
);
