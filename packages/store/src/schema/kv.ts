import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Small named values. */
export const kv = sqliteTable(
  "kv",
  {
    namespace: text().notNull(),
    key: text().notNull(),
    value: text().notNull(),
    expiresAt: integer(),
  },
  (t) => [primaryKey({ columns: [t.namespace, t.key] })],
);
