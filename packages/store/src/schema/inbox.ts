import { isNull } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** States of inbound messages. Their bodies are in `entry`. An id consists of `seq`, `receivedAt` and `nonce`. */
export const inbox = sqliteTable(
  "inbox",
  {
    seq: integer().primaryKey(),
    nonce: integer().notNull(),
    state: text({
      enum: [
        "accepted",
        "queued",
        "running",
        "replied",
        "silent",
        "ignored",
        "failed-reported",
        "expired-reported",
        "unreported",
      ],
    }).notNull(),
    entry: integer().notNull(),
    sessionKey: text(),
    agentId: text(),
    run: integer(),
    rule: text(),
    reason: text(),
    revision: integer().notNull().default(0),
    receivedAt: integer().notNull(),
    settledAt: integer(),
    /** The lease that owns the message while it is waiting. An empty name means that the message has no owner. */
    leaseName: text().notNull().default(""),
    leaseEpoch: integer().notNull().default(0),
  },
  (t) => [
    index("inbox_open").on(t.sessionKey, t.seq).where(isNull(t.settledAt)),
    // Updated once for each message. Finds a session's messages without a full scan.
    index("inbox_session").on(t.sessionKey, t.seq),
  ],
);
export type InboxRecord = typeof inbox.$inferSelect;

/** Deduplication keys. They outlive their inbox rows. */
export const dedupe = sqliteTable("dedupe", {
  key: integer().primaryKey(),
  seq: integer().notNull(),
  day: integer().notNull(),
});

/** Every account that has received a message. A search by message id without an account tries each of them. */
export const account = sqliteTable(
  "account",
  {
    channel: text().notNull(),
    account: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.channel, t.account] })],
);
