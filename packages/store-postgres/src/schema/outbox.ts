import type { OutboxState, PartReceipt } from "@signalbox/store/types";
import { inArray, type SQL, sql } from "drizzle-orm";
import { boolean, index, json, type PgColumn, pgTable, uniqueIndex } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

const UNSENT: readonly OutboxState[] = ["pending", "sending"];
const GIVEN_UP: readonly OutboxState[] = ["dead", "uncertain", "expired"];

/** Inlines the states, because a partial index is only used if the query contains its condition. */
function stateIn(column: PgColumn, states: readonly OutboxState[]): SQL {
  return inArray(column, states).inlineParams();
}

/** Replies. An id consists of `seq`, `createdAt` and `nonce`. */
export const outbox = pgTable(
  "outbox",
  {
    seq: integer().primaryKey().generatedByDefaultAsIdentity(),
    nonce: integer().notNull(),
    key: string().notNull(),
    /** True if the caller chose the key. Such keys are unique. */
    keyed: boolean().notNull(),
    sessionKey: string(),
    /** The run that created the reply. */
    run: integer(),
    channel: string().notNull(),
    account: string().notNull(),
    address: string().notNull(),
    /** The reply as JSON. */
    payload: string().notNull(),
    partCount: integer().notNull(),
    state: string<OutboxState>().notNull(),
    leaseName: string(),
    leaseEpoch: integer(),
    attempts: integer().notNull(),
    nextAt: integer().notNull(),
    expiresAt: integer(),
    receipts: json().$type<readonly PartReceipt[]>().notNull().default([]),
    error: string(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    /** Numbers of the messages that the row answers, if it belongs to no run; of those that it reports, negated. */
    answers: integer().array().notNull().default([]),
    /** Format of the row. A program leaves rows of a newer format than its own to newer programs. */
    format: integer().notNull().default(1),
  },
  (t) => [
    index("outbox_open").on(t.channel, t.account, t.address, t.seq).where(stateIn(t.state, UNSENT)),
    index("outbox_ended").on(t.seq).where(stateIn(t.state, GIVEN_UP)),
    index("outbox_run").on(t.run),
    index("outbox_updated").on(t.updatedAt),
    uniqueIndex("outbox_key").on(t.key).where(sql`${t.keyed}`),
  ],
);
export type OutboxRecord = typeof outbox.$inferSelect;

/** Selects unsent rows. This is the condition of the index `outbox_open`. */
export const isUnsent: SQL = stateIn(outbox.state, UNSENT);
/** Selects rows that were given up. This is the condition of the index `outbox_ended`. */
export const isGivenUp: SQL = stateIn(outbox.state, GIVEN_UP);
