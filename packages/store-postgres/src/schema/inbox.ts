import type { InboxState } from "@signalbox/store/types";
import { isNull } from "drizzle-orm";
import { index, pgTable } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** Inbound messages. An id consists of `seq`, `receivedAt` and `nonce`. */
export const inbox = pgTable(
  "inbox",
  {
    seq: integer().primaryKey().generatedByDefaultAsIdentity(),
    nonce: integer().notNull(),
    state: string<InboxState>().notNull(),
    channel: string().notNull(),
    account: string().notNull(),
    eventId: string().notNull(),
    messageId: string(),
    kind: string().notNull(),
    conversationId: string().notNull(),
    senderId: string().notNull(),
    /** The normalized event as JSON. */
    payload: string().notNull(),
    sessionKey: string(),
    agentId: string(),
    run: integer(),
    rule: string(),
    reason: string(),
    revision: integer().notNull().default(0),
    receivedAt: integer().notNull(),
    settledAt: integer(),
    /** The lease that owns the message while it is waiting. An empty name means that the message has no owner. */
    leaseName: string().notNull().default(""),
    leaseEpoch: integer().notNull().default(0),
    /** Format of the row. A program leaves rows of a newer format than its own to newer programs. */
    format: integer().notNull().default(1),
  },
  (t) => [
    index("inbox_open").on(t.sessionKey, t.seq).where(isNull(t.settledAt)),
    index("inbox_session").on(t.sessionKey, t.seq),
    index("inbox_run").on(t.run),
    index("inbox_message").on(t.messageId),
    index("inbox_settled").on(t.settledAt),
  ],
);
export type InboxRecord = typeof inbox.$inferSelect;

/** Deduplication keys. They outlive their inbox rows. */
export const dedupe = pgTable(
  "dedupe",
  {
    key: integer().primaryKey(),
    seq: integer().notNull(),
    day: integer().notNull(),
  },
  (t) => [index("dedupe_day").on(t.day)],
);
