import { boolean, index, pgTable, primaryKey } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** Contexts that a model received with the messages of a session. */
export const messageContext = pgTable(
  "message_context",
  {
    sessionKey: string().notNull(),
    seq: integer().notNull(),
    text: string().notNull(),
    /** The text that was recalled from memory. */
    recalled: string().notNull(),
    /** True if only owners may see the recalled text. */
    forOwner: boolean().notNull().default(true),
  },
  (t) => [primaryKey({ columns: [t.sessionKey, t.seq] })],
);

/**
 * Group history entries that a model received with a message. Each entry has its own row, so that an edit or a deletion
 * on the platform also applies here.
 */
export const toldHistory = pgTable(
  "told_history",
  {
    sessionKey: string().notNull(),
    seq: integer().notNull(),
    place: integer().notNull(),
    conversation: string().notNull(),
    entryId: string().notNull(),
    senderId: string().notNull(),
    body: string().notNull(),
    at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.sessionKey, t.seq, t.place] }),
    index("told_history_entry").on(t.conversation, t.entryId),
  ],
);
