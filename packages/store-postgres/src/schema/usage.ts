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
