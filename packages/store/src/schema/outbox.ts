import { inArray, type SQL, sql } from "drizzle-orm";
import { index, integer, type SQLiteColumn, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { OutboxState, PartReceipt } from "../types/outbox.ts";
import { jsonList } from "./json-list.ts";

const UNSENT: readonly OutboxState[] = ["pending", "sending"];
const GIVEN_UP: readonly OutboxState[] = ["dead", "uncertain", "expired"];

/** Inlines the states into the SQL. SQLite uses a partial index only if the query contains the same condition. */
function stateIn(column: SQLiteColumn, states: readonly OutboxState[]): SQL {
  return inArray(column, states).inlineParams();
}

/** States of replies. Their bodies are in `entry`. An id consists of `seq`, `createdAt` and `nonce`. */
export const outbox = sqliteTable(
  "outbox",
  {
    seq: integer().primaryKey(),
    nonce: integer().notNull(),
    key: text().notNull(),
    /** True if the caller chose the key. Such keys are unique. */
    keyed: integer({ mode: "boolean" }).notNull(),
    entry: integer().notNull(),
    /** The run that created the reply. */
    run: integer(),
    channel: text().notNull(),
    account: text().notNull(),
    address: text().notNull(),
    partCount: integer().notNull(),
    state: text({ enum: ["pending", "sending", "sent", "uncertain", "dead", "expired"] }).notNull(),
    leaseName: text(),
    leaseEpoch: integer(),
    attempts: integer().notNull(),
    nextAt: integer().notNull(),
    expiresAt: integer(),
    receipts: jsonList<PartReceipt>().notNull().default([]),
    error: text(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    /** Numbers of the messages that the row answers, if it belongs to no run; of those that it reports, negated. */
    answers: jsonList<number>().notNull().default([]),
  },
  (t) => [
    index("outbox_open").on(t.channel, t.account, t.address, t.seq).where(stateIn(t.state, UNSENT)),
    index("outbox_ended").on(t.seq).where(stateIn(t.state, GIVEN_UP)),
    uniqueIndex("outbox_key").on(t.key).where(sql`${t.keyed} = 1`),
  ],
);
export type OutboxRecord = typeof outbox.$inferSelect;

/** Selects unsent rows. This is the condition of the index `outbox_open`. */
export const isUnsent: SQL = stateIn(outbox.state, UNSENT);
/** Selects rows that were given up. This is the condition of the index `outbox_ended`. */
export const isGivenUp: SQL = stateIn(outbox.state, GIVEN_UP);
/** Selects rows whose key the caller chose. This is the condition of the index `outbox_key`. */
export const isKeyed: SQL = sql`${outbox.keyed} = 1`;
