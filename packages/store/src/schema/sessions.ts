import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Sessions, with the heads of their chains and sums over their runs. */
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
     * The minute of `updatedAt`, for the index: one over the time itself would write a page more with each message,
     * this one does so once a minute.
     */
    updatedMinute: integer().notNull(),
    resetAt: integer(),
    lastEntry: integer(),
    lastSeq: integer().notNull().default(0),
    messageCount: integer().notNull().default(0),
    /** Messages up to this one are not part of the current history. */
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
    // Without a time, so that messages do not update it. A person has few sessions, which are sorted when read.
    index("session_peer").on(t.channel, t.peer),
  ],
);
export type SessionRecord = typeof session.$inferSelect;

/** See {@link session.updatedMinute}. */
export const minuteOf = (at: number): number => Math.floor(at / 60_000);
