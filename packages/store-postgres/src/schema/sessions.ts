import { isNotNull } from "drizzle-orm";
import { index, pgTable } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** Sessions, with the sums over their runs. */
export const session = pgTable(
  "session",
  {
    key: string().primaryKey(),
    agentId: string().notNull(),
    channel: string().notNull(),
    account: string().notNull(),
    peer: string().notNull(),
    kind: string().notNull(),
    title: string(),
    model: string(),
    thinking: string(),
    queueMode: string(),
    data: string(),
    generation: integer().notNull().default(0),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    /**
     * The minute of `updatedAt`, for the index. With an index on the time itself, PostgreSQL could never update a row
     * within its page.
     */
    updatedMinute: integer().notNull(),
    resetAt: integer(),
    lastSeq: integer().notNull().default(0),
    messageCount: integer().notNull().default(0),
    /** Messages with this number or a lower one do not belong to the current history. */
    floorSeq: integer().notNull().default(0),
    summarySeq: integer(),
    /** The run that holds the session. */
    activeRun: integer(),
    runs: integer().notNull().default(0),
    modelCalls: integer().notNull().default(0),
    inputTokens: integer().notNull().default(0),
    outputTokens: integer().notNull().default(0),
    cacheReadTokens: integer().notNull().default(0),
    cacheWriteTokens: integer().notNull().default(0),
    costMicros: integer().notNull().default(0),
  },
  (t) => [
    index("session_recent").on(t.updatedMinute),
    index("session_peer").on(t.channel, t.peer),
    index("session_active").on(t.activeRun).where(isNotNull(t.activeRun)),
  ],
);
export type SessionRecord = typeof session.$inferSelect;

/** See {@link session.updatedMinute}. */
export const minuteOf = (at: number): number => Math.floor(at / 60_000);
