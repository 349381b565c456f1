import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** What was decided; each row is linked to the one before it by its hash. Rows are only ever added. */
export const auditRecord = sqliteTable("audit_record", {
  seq: integer().primaryKey(),
  at: integer().notNull(),
  kind: text({ enum: ["approval", "configuration", "pairing", "sign-in", "token", "tool"] }).notNull(),
  action: text().notNull(),
  actor: text().notNull(),
  subject: text().notNull(),
  details: text(),
  hash: text().notNull(),
});

/** The end of the chain, which tells a tail that was cut off. */
export const auditHead = sqliteTable("audit_head", {
  one: integer().primaryKey(),
  count: integer().notNull(),
  hash: text().notNull(),
});
