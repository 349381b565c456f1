import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Contexts that a model received with messages of a session. A separate table, since they are known after the message,
 * are not part of the conversation, and may be removed earlier.
 */
export const messageContext = sqliteTable(
  "message_context",
  {
    sessionKey: text().notNull(),
    seq: integer().notNull(),
    text: text().notNull(),
    /** The part that was recalled from memory. */
    recalled: text().notNull(),
    /** True if only owners may see the recalled part. */
    forOwner: integer({ mode: "boolean" }).notNull().default(true),
  },
  (t) => [primaryKey({ columns: [t.sessionKey, t.seq] })],
);
