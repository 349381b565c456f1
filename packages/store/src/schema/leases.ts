import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Leases. `epoch` rises with every change of holder. */
export const lease = sqliteTable("lease", {
  name: text().primaryKey(),
  holder: text().notNull(),
  epoch: integer().notNull(),
  expiresAt: integer().notNull(),
});
export type LeaseRecord = typeof lease.$inferSelect;
