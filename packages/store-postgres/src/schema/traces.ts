import { index, pgTable } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** Traces. A row holds entries for one subject that were written together. */
export const trace = pgTable(
  "trace",
  {
    n: integer().primaryKey().generatedByDefaultAsIdentity(),
    subject: string().notNull(),
    entries: string().notNull(),
    at: integer().notNull(),
  },
  (t) => [index("trace_subject").on(t.subject), index("trace_at").on(t.at)],
);
