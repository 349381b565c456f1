import { pgTable, primaryKey } from "drizzle-orm/pg-core";
import { bytes, integer, string } from "./columns.ts";

/** Files. */
export const object = pgTable("object", {
  key: string().primaryKey(),
  size: integer().notNull(),
  changedAt: integer().notNull(),
});

/** The content of files, in pieces of at most 1 MiB. */
export const objectPart = pgTable(
  "object_part",
  {
    key: string().notNull(),
    n: integer().notNull(),
    content: bytes().notNull(),
  },
  (t) => [primaryKey({ columns: [t.key, t.n] })],
);
