import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Leases. `epoch` increases with every change of the holder. */
export const lease = sqliteTable("lease", {
  name: text().primaryKey(),
  holder: text().notNull(),
  epoch: integer().notNull(),
  expiresAt: integer().notNull(),
  acquiredAt: integer().notNull().default(0),
});
export type LeaseRecord = typeof lease.$inferSelect;
