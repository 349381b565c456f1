import { isNull } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * The state of each message that came in; its body is an `entry`. Its id is made of `seq`, `receivedAt` and `nonce`.
 */
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
      ],
    }).notNull(),
    entry: integer().notNull(),
    eventKey: integer().notNull(),
    messageKey: integer(),
    sessionKey: text(),
    agentId: text(),
    run: integer(),
    rule: text(),
    reason: text(),
    revision: integer().notNull().default(0),
    receivedAt: integer().notNull(),
    settledAt: integer(),
    /** Who works on it while it waits; no name: nobody. */
    leaseName: text().notNull().default(""),
    leaseEpoch: integer().notNull().default(0),
  },
  (t) => [
    index("inbox_open").on(t.sessionKey, t.seq).where(isNull(t.settledAt)),
    // Written once for each message: without it, the messages of one session are looked for among all there are.
    index("inbox_session").on(t.sessionKey, t.seq),
  ],
);
export type InboxRecord = typeof inbox.$inferSelect;

/** Keys against redelivery of the inbox rows up to the mark. They outlive the rows. */
export const dedupe = sqliteTable("dedupe", {
  key: integer().primaryKey(),
  seq: integer().notNull(),
  day: integer().notNull(),
});

/** One row: up to which `seq` the keys of the inbox stand in `dedupe`. */
export const dedupeMark = sqliteTable("dedupe_mark", {
  one: integer().primaryKey(),
  seq: integer().notNull(),
});

/** Every account that something came in by: a message is looked up by the platform's id alone once for each. */
export const account = sqliteTable(
  "account",
  {
    channel: text().notNull(),
    account: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.channel, t.account] })],
);
