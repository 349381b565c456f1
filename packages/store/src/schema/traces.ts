import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Traces. A row holds entries for one subject that were written together. */
export const trace = sqliteTable(
  "trace",
  {
    n: integer().primaryKey(),
    subject: text().notNull(),
    entries: text().notNull(),
    at: integer().notNull(),
  },
  (t) => [index("trace_subject").on(t.subject)],
);
