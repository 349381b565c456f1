import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Sessions, with the heads of their chains and the sums over their runs. */
export const session = sqliteTable(
  "session",
  {
    key: text().primaryKey(),
    agentId: text().notNull(),
    channel: text().notNull(),
    account: text().notNull(),
    peer: text().notNull(),
    kind: text().notNull(),
    title: text(),
    model: text(),
    thinking: text(),
    queueMode: text(),
    data: text(),
    generation: integer().notNull().default(0),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    /**
     * The minute of `updatedAt`, for the index. An index on the time itself would write another page with each message.
     * This one does so once a minute.
     */
    updatedMinute: integer().notNull(),
    resetAt: integer(),
    lastEntry: integer(),
    lastSeq: integer().notNull().default(0),
    messageCount: integer().notNull().default(0),
    /** Messages with this number or a lower one do not belong to the current history. */
    floorSeq: integer().notNull().default(0),
    summaryEntry: integer(),
    lastRun: integer(),
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
    // This index has no time column, so that messages do not update it. A person has few sessions, which are sorted
    // when they are read.
    index("session_peer").on(t.channel, t.peer),
  ],
);
export type SessionRecord = typeof session.$inferSelect;

/** See {@link session.updatedMinute}. */
export const minuteOf = (at: number): number => Math.floor(at / 60_000);
