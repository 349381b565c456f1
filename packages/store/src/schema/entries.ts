import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Every body. `message` and `summary` are a session's chain (`session.lastEntry`, then `prev` of each), `inbound` is an
 * event with its payload, `outbound` a reply.
 *
 * A commit writes whole pages. So what is large is appended to this one table and hardly ever rewritten, while what
 * changes (states, heads) sits in narrow rows of the other tables, and an index is made only where few rows are in it.
 */
export const entry = sqliteTable("entry", {
  id: integer().primaryKey(),
  kind: text({ enum: ["message", "summary", "inbound", "outbound"] }).notNull(),
  sessionKey: text(),
  seq: integer(),
  prev: integer(),
  generation: integer(),
  run: integer(),
  at: integer().notNull(),
  body: text().notNull(),
});
export type EntryRecord = typeof entry.$inferSelect;
