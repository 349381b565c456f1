import { blob, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Sections of notes and turns of conversations. Their terms are in `chunk_terms`, under the same number. */
export const chunk = sqliteTable(
  "chunk",
  {
    n: integer().primaryKey(),
    id: text().notNull().unique(),
    source: text({ enum: ["note", "turn"] }).notNull(),
    /** The file or conversation: `note:` with a path, or `turn:` with a chat. */
    whole: text().notNull(),
    /** The position in it: a line number, or a time. */
    position: integer().notNull(),
    text: text().notNull(),
    /** Hash of the text, the key of its vector. */
    hash: text().notNull(),
    /** Number of terms. */
    length: integer().notNull(),
    at: integer(),
    scope: text().notNull(),
    authorId: text(),
    authorName: text(),
    chat: text(),
    message: text(),
    untrusted: text(),
    /** This column and the following ones are only for notes. */
    path: text(),
    headings: text({ mode: "json" }).$type<readonly string[]>(),
    firstLine: integer(),
    lastLine: integer(),
  },
  (t) => [index("chunk_in_whole").on(t.whole, t.position)],
);
export type ChunkRecord = typeof chunk.$inferSelect;

/** Numbers of chunks and of their terms, grouped by visibility. Counting 100,000 chunks takes longer than a search. */
export const census = sqliteTable(
  "census",
  {
    source: text({ enum: ["note", "turn"] }).notNull(),
    scope: text().notNull(),
    /** Empty if there is no author. */
    authorId: text().notNull(),
    chunks: integer().notNull(),
    length: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.source, t.scope, t.authorId] })],
);
export type CensusRecord = typeof census.$inferSelect;

/** State of the note files when they were indexed. */
export const file = sqliteTable("file", {
  path: text().primaryKey(),
  size: integer().notNull(),
  changedAt: integer().notNull(),
  hash: text().notNull(),
});
export type FileRecord = typeof file.$inferSelect;

/** Vectors by the hash of their text, so that moved or repeated texts are embedded once. */
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

/** Positions up to which the conversations are indexed. */
export const mark = sqliteTable("mark", {
  name: text().primaryKey(),
  value: text().notNull(),
});
