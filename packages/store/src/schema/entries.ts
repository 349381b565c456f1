import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * All bodies. `message` and `summary` entries form a session's chain (starting at `session.lastEntry` and following
 * `prev`), an `inbound` entry is an event with its payload, and an `outbound` entry is a reply.
 *
 * Each commit writes whole pages. Large bodies are therefore appended to this table and rarely updated, while states
 * and heads change in narrow rows of other tables.
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
