import type { RunOutcome, ToolEffects } from "@signalbox/store/types";
import { index, pgTable, primaryKey } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** The journal of runs. An id consists of `n`, `startedAt` and `nonce`. */
export const run = pgTable(
  "run",
  {
    n: integer().primaryKey().generatedByDefaultAsIdentity(),
    nonce: integer().notNull(),
    sessionKey: string().notNull(),
    agentId: string().notNull(),
    /** The sender whose usage includes the run; empty without a sender. */
    sender: string().notNull().default(""),
    generation: integer().notNull(),
    state: string<"running" | RunOutcome>().notNull(),
    leaseName: string().notNull(),
    leaseEpoch: integer().notNull(),
    attempts: integer().notNull(),
    meta: string(),
    error: string(),
    /** The row numbers of the answered messages. */
    inbox: integer().array().notNull(),
    /** The row numbers of the replies. */
    outbox: integer().array().notNull().default([]),
    startedAt: integer().notNull(),
    finishedAt: integer(),
    modelCalls: integer(),
    inputTokens: integer(),
    outputTokens: integer(),
    cacheReadTokens: integer(),
    cacheWriteTokens: integer(),
    costMicros: integer(),
    /** Format of the row. A program leaves rows of a newer format than its own to newer programs. */
    format: integer().notNull().default(1),
  },
  (t) => [index("run_session").on(t.sessionKey, t.n), index("run_finished").on(t.finishedAt)],
);
export type RunRecord = typeof run.$inferSelect;

/** The tool calls of a run. */
export const toolCall = pgTable(
  "tool_call",
  {
    run: integer().notNull(),
    n: integer().notNull(),
    callId: string().notNull(),
    name: string().notNull(),
    args: string().notNull(),
    effects: string<ToolEffects>().notNull(),
    state: string<"intent" | "started" | "done">().notNull(),
  },
  (t) => [primaryKey({ columns: [t.run, t.n] })],
);
