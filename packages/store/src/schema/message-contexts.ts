import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Contexts that a model received with the messages of a session. They have their own table because they are written
 * after the message, do not belong to the conversation, and may be removed earlier.
 */
export const messageContext = sqliteTable(
  "message_context",
  {
    sessionKey: text().notNull(),
    seq: integer().notNull(),
    text: text().notNull(),
    /** The text that was recalled from memory. */
    recalled: text().notNull(),
    /** True if only owners may see the recalled text. */
    forOwner: integer({ mode: "boolean" }).notNull().default(true),
  },
  (t) => [primaryKey({ columns: [t.sessionKey, t.seq] })],
);
