import { index, pgTable, primaryKey } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** Messages and summaries of sessions. */
export const message = pgTable(
  "message",
  {
    sessionKey: string().notNull(),
    seq: integer().notNull(),
    kind: string<"message" | "summary">().notNull(),
    generation: integer().notNull(),
    run: integer(),
    at: integer().notNull(),
    body: string().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.sessionKey, t.seq] }),
    index("message_run").on(t.run),
    index("message_at").on(t.at),
  ],
);
export type MessageRecord = typeof message.$inferSelect;
