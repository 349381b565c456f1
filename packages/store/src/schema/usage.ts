import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Usage of runs, summed by day. */
export const usageDay = sqliteTable(
  "usage_day",
  {
    day: text().notNull(),
    agentId: text().notNull(),
    sessionKey: text().notNull(),
    sender: text().notNull().default(""),
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
export const usageModelDay = sqliteTable(
  "usage_model_day",
  {
    day: text().notNull(),
    agentId: text().notNull(),
    sessionKey: text().notNull(),
    sender: text().notNull(),
    model: text().notNull(),
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
