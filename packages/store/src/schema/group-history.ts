import { integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/** Group messages that were not addressed to an agent. */
export const groupHistory = sqliteTable(
  "group_history",
  {
    n: integer().primaryKey(),
    conversation: text().notNull(),
    entryId: text().notNull(),
    senderId: text().notNull(),
    body: text().notNull(),
    at: integer().notNull(),
  },
  (t) => [uniqueIndex("group_history_entry").on(t.conversation, t.entryId)],
);
