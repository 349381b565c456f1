import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Explanations; a row holds what was said of a subject in one moment. */
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
