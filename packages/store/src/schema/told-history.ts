import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Group history entries that a model received with a message. Each entry has its own row, so that an edit or a deletion
 * on the platform also applies here.
 */
export const toldHistory = sqliteTable(
  "told_history",
  {
    sessionKey: text().notNull(),
    seq: integer().notNull(),
    place: integer().notNull(),
    conversation: text().notNull(),
    entryId: text().notNull(),
    senderId: text().notNull(),
    body: text().notNull(),
    at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.sessionKey, t.seq, t.place] }),
    index("told_history_entry").on(t.conversation, t.entryId),
  ],
);
