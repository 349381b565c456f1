import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { jsonList } from "./json-list.ts";

/** The journal of runs. An id consists of `n`, `startedAt` and `nonce`. */
export const run = sqliteTable("run", {
  n: integer().primaryKey(),
  nonce: integer().notNull(),
  sessionKey: text().notNull(),
  agentId: text().notNull(),
  /** The sender whose usage includes the run; empty without a sender. */
  sender: text().notNull().default(""),
  generation: integer().notNull(),
  state: text({ enum: ["running", "completed", "failed", "aborted", "poisoned"] }).notNull(),
  leaseName: text().notNull(),
  leaseEpoch: integer().notNull(),
  attempts: integer().notNull(),
  meta: text(),
  error: text(),
  /** The row numbers of the answered messages. */
  inbox: jsonList<number>().notNull(),
  /** The row numbers of the replies. */
  outbox: jsonList<number>().notNull().default([]),
  /** The previous run of the session. */
  prevRun: integer(),
  lastEntry: integer(),
  startedAt: integer().notNull(),
  finishedAt: integer(),
  modelCalls: integer(),
  inputTokens: integer(),
  outputTokens: integer(),
  cacheReadTokens: integer(),
  cacheWriteTokens: integer(),
  costMicros: integer(),
});
export type RunRecord = typeof run.$inferSelect;

/** The run that holds a session, and the head of the session's chain during the run. */
export const activeRun = sqliteTable("active_run", {
  sessionKey: text().primaryKey(),
  run: integer().notNull(),
  lastEntry: integer(),
  lastSeq: integer().notNull(),
  messageCount: integer().notNull(),
});
export type ActiveRunRecord = typeof activeRun.$inferSelect;

/** The tool calls of a run. */
export const toolCall = sqliteTable(
  "tool_call",
  {
    run: integer().notNull(),
    n: integer().notNull(),
    callId: text().notNull(),
    name: text().notNull(),
    args: text().notNull(),
    effects: text({ enum: ["none", "idempotent", "keyed", "external"] }).notNull(),
    state: text({ enum: ["intent", "started", "done"] }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.run, t.n] })],
);
