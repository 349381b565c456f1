import { json, pgTable } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** Gateways that use the store. */
export const node = pgTable("node", {
  id: string().primaryKey(),
  name: string(),
  version: string().notNull(),
  format: integer().notNull(),
  labels: json().$type<readonly string[]>().notNull(),
  configuration: string().notNull(),
  startedAt: integer().notNull(),
  seenAt: integer().notNull(),
  clockSkewMs: integer().notNull(),
  latencyMs: integer().notNull(),
  takeovers: integer().notNull().default(0),
  fencedWrites: integer().notNull().default(0),
});
