import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * What of a group's history a model was told beside a message of a session. Each entry is a row of its own, so that
 * somebody who edits or deletes what they wrote in the group reaches it here.
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
