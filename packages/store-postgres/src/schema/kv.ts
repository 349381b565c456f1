import { pgTable, primaryKey } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** Small named values. */
export const kv = pgTable(
  "kv",
  {
    namespace: string().notNull(),
    key: string().notNull(),
    value: string().notNull(),
    expiresAt: integer(),
  },
  (t) => [primaryKey({ columns: [t.namespace, t.key] })],
);
