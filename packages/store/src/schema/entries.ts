import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * All bodies. `message` and `summary` form a session's chain (`session.lastEntry`, then `prev` of each), `inbound` is
 * an event with its payload, `outbound` a reply.
 *
 * A commit writes whole pages. So large bodies are appended to this table and hardly ever updated, while states and
 * heads change in narrow rows of other tables.
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
