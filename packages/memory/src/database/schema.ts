import { blob, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * What can be found: parts of notes and turns of conversations. Their terms
 * stand in `chunk_terms`, under the same number.
 */
export const chunk = sqliteTable(
  "chunk",
  {
    n: integer().primaryKey(),
    id: text().notNull().unique(),
    source: text({ enum: ["note", "turn"] }).notNull(),
    /** What it is a part of, `note:` with a path or `turn:` with a chat, and where in it: a line or a time. */
    whole: text().notNull(),
    position: integer().notNull(),
    text: text().notNull(),
    /** Of what is embedded. */
    hash: text().notNull(),
    /** How many terms it has. */
    length: integer().notNull(),
    at: integer(),
    scope: text().notNull(),
    authorId: text(),
    authorName: text(),
    chat: text(),
    message: text(),
    untrusted: text(),
    /** Of a note. */
    path: text(),
    headings: text({ mode: "json" }).$type<readonly string[]>(),
    firstLine: integer(),
    lastLine: integer(),
  },
  (t) => [index("chunk_in_whole").on(t.whole, t.position)],
);
export type ChunkRecord = typeof chunk.$inferSelect;

/**
 * How many chunks there are and how long they are together, by whom they open to. It is kept as they come and go, since
 * counting a hundred thousand takes longer than a search.
 */
export const census = sqliteTable(
  "census",
  {
    source: text({ enum: ["note", "turn"] }).notNull(),
    scope: text().notNull(),
    /** Empty where there is none. */
    authorId: text().notNull(),
    chunks: integer().notNull(),
    length: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.source, t.scope, t.authorId] })],
);
export type CensusRecord = typeof census.$inferSelect;

/** The notes' files as they were when they were read. */
export const file = sqliteTable("file", {
  path: text().primaryKey(),
  size: integer().notNull(),
  changedAt: integer().notNull(),
  hash: text().notNull(),
});
export type FileRecord = typeof file.$inferSelect;

/** Vectors by what they stand for, so that what was moved or written again is not paid for twice. */
export const vector = sqliteTable(
  "vector",
  {
    hash: text().notNull(),
    model: text().notNull(),
    /** 32-bit floats, little-endian, of length 1. */
    values: blob({ mode: "buffer" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.hash, t.model] })],
);

/** How far the conversations were read. */
export const mark = sqliteTable("mark", {
  name: text().primaryKey(),
  value: text().notNull(),
});
