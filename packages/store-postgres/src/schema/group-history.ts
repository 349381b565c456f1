import { pgTable, uniqueIndex } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** Group messages that were not addressed to an agent. */
export const groupHistory = pgTable(
  "group_history",
  {
    n: integer().primaryKey().generatedByDefaultAsIdentity(),
    conversation: string().notNull(),
    entryId: string().notNull(),
    senderId: string().notNull(),
    body: string().notNull(),
    at: integer().notNull(),
  },
  (t) => [uniqueIndex("group_history_entry").on(t.conversation, t.entryId)],
);
