import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { AUDIT_KINDS } from "../audit/chain.ts";

/** The audit log. Rows are only inserted, never updated. */
export const auditRecord = sqliteTable("audit_record", {
  seq: integer().primaryKey(),
  at: integer().notNull(),
  kind: text({ enum: AUDIT_KINDS }).notNull(),
  action: text().notNull(),
  actor: text().notNull(),
  subject: text().notNull(),
  details: text(),
  hash: text().notNull(),
});

/** The head of the chain, in a single row. It reveals missing rows at the end of the log. */
export const auditHead = sqliteTable("audit_head", {
  one: integer().primaryKey(),
  count: integer().notNull(),
  hash: text().notNull(),
});
