import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * What a model was told beside messages of a session. In a table of its own, since it is known later than the message,
 * is no part of what was said, and may have to go sooner.
 */
export const messageContext = sqliteTable(
  "message_context",
  {
    sessionKey: text().notNull(),
    seq: integer().notNull(),
    text: text().notNull(),
    /** What of it came from memory. */
    recalled: text().notNull(),
    /** Whether what came from memory is for owners alone. */
    forOwner: integer({ mode: "boolean" }).notNull().default(true),
  },
  (t) => [primaryKey({ columns: [t.sessionKey, t.seq] })],
);
