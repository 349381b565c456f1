import { pgTable } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** Leases. `epoch` increases with every change of the holder. */
export const lease = pgTable("lease", {
  name: string().primaryKey(),
  holder: string().notNull(),
  epoch: integer().notNull(),
  expiresAt: integer().notNull(),
  acquiredAt: integer().notNull().default(0),
});
