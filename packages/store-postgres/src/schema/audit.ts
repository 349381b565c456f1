import type { AuditKind } from "@signalbox/store/types";
import { pgTable } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** The audit log. Rows are only inserted, never updated. */
export const auditRecord = pgTable("audit_record", {
  seq: integer().primaryKey(),
  at: integer().notNull(),
  kind: string<AuditKind>().notNull(),
  action: string().notNull(),
  actor: string().notNull(),
  subject: string().notNull(),
  details: string(),
  hash: string().notNull(),
});

/** The head of the chain, in a single row. It reveals missing rows at the end of the log. */
export const auditHead = pgTable("audit_head", {
  one: integer().primaryKey(),
  count: integer().notNull(),
  hash: string().notNull(),
});
