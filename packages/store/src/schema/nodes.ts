import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { jsonList } from "./json-list.ts";

/** Gateways that use the store. */
export const node = sqliteTable("node", {
  id: text().primaryKey(),
  name: text(),
  version: text().notNull(),
  format: integer().notNull(),
  labels: jsonList<string>().notNull(),
  configuration: text().notNull(),
  startedAt: integer().notNull(),
  seenAt: integer().notNull(),
  clockSkewMs: integer().notNull(),
  latencyMs: integer().notNull(),
  takeovers: integer().notNull().default(0),
  fencedWrites: integer().notNull().default(0),
});
