import { and, desc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import { labelOf, scopeOf } from "../access.ts";
import type { Chunk } from "../types.ts";
import type { Census } from "./census.ts";
import { type Database, prepareInsert } from "./open.ts";
import { type ChunkRecord, chunk } from "./schema.ts";
import { type ChunkTerms, type TermIndex, termsOfChunk } from "./terms.ts";

/** A chunk with the hash of its text. */
export type NewChunk = Chunk & { readonly hash: string };

/** A stored chunk. */
export interface IndexedChunk extends NewChunk {
  /** Its number in the index. */
  readonly n: number;
  /** Its number of terms. */
  readonly length: number;
}

/** The table of chunks. Keeps the term index and the census up to date. */
export interface ChunkTable {
  add(chunks: readonly NewChunk[]): void;
  remove(chunks: readonly IndexedChunk[]): void;
  byIds(ids: readonly string[]): IndexedChunk[];
  byNumber(numbers: readonly number[]): IndexedChunk[];
  /** Returns all chunks with the same text as any of the given ones, including these. */
  withSameText(chunks: readonly IndexedChunk[]): IndexedChunk[];
  ofFile(path: string): IndexedChunk[];
  ofChat(chat: string): IndexedChunk[];
  /** Returns the sections of all notes, newest first. Sections without a time come last. */
  ofNotes(): IndexedChunk[];
  /** Returns up to `limit` turns from any conversation. */
  ofTurns(limit: number): IndexedChunk[];
  /** Returns the numbers of the neighbours of a chunk in its file or chat, nearest first. */
  beside(of: IndexedChunk, side: "before" | "after", limit: number): number[];
  /** Returns the number of terms of each chunk. */
  lengths(numbers: readonly number[]): ReadonlyMap<number, number>;
}

interface BesideParams {
  readonly whole: string;
  readonly position: number;
  readonly n: number;
  readonly limit: number;
}

interface Beside {
  all(params: BesideParams): number[];
}

export function createChunkTable({ db, raw }: Database, termIndex: TermIndex, census: Census): ChunkTable {
  const insert = prepareInsert(db, chunk);
  const remove = db
    .delete(chunk)
    .where(eq(chunk.n, sql.placeholder("n")))
    .prepare();
  const byIds = db.select().from(chunk).where(isAmong(chunk.id, "ids")).prepare();
  const byHashes = db.select().from(chunk).where(isAmong(chunk.hash, "hashes")).prepare();
  const ofWhole = db
    .select()
    .from(chunk)
    .where(eq(chunk.whole, sql.placeholder("whole")))
    .orderBy(chunk.position, chunk.n)
    .prepare();
  const notes = db
    .select()
    .from(chunk)
    // Uses the index. A comparison of `source` would read all turns.
    .where(and(gte(chunk.whole, "note:"), lt(chunk.whole, "note;")))
    .orderBy(desc(chunk.at), chunk.whole, chunk.position)
    .prepare();
  const someTurns = db
    .select()
    .from(chunk)
    .where(eq(chunk.source, "turn"))
    .limit(sql.placeholder("limit"))
    .prepare();
  const numbersBeside = { before: prepareBeside(raw, "<", "DESC"), after: prepareBeside(raw, ">", "ASC") };
  const byNumbers = db.select().from(chunk).where(isAmong(chunk.n, "numbers")).prepare();
  const lengths = db
    .select({ n: chunk.n, length: chunk.length })
    .from(chunk)
    .where(isAmong(chunk.n, "numbers"))
    .prepare();

  /** Sorts the rows by the order of the numbers. */
  function byNumber(numbers: readonly number[]): IndexedChunk[] {
    if (numbers.length === 0) return [];
    const places = new Map(numbers.map((n, place) => [n, place]));
    const place = ({ n }: IndexedChunk) => places.get(n) ?? 0;
    return byNumbers
      .all({ numbers: JSON.stringify(numbers) })
      .map(toChunk)
      .sort((a, b) => place(a) - place(b));
  }

  return {
    add(chunks) {
      const records = chunks.map((made) => {
        const chunkTerms = termsOfChunk(made);
        const record = toRecord(made, chunkTerms);
        termIndex.add(Number(insert.run(record).lastInsertRowid), chunkTerms);
        return record;
      });
      census.adjust(records, 1);
    },
    remove(chunks) {
      for (const { n } of chunks) {
        remove.run({ n });
        termIndex.remove(n);
      }
      census.adjust(
        chunks.map(({ source, scope, author, length }) => ({
          source,
          length,
          scope: labelOf(scope),
          authorId: author?.id ?? null,
        })),
        -1,
      );
    },
    byIds: (ids) => byIds.all({ ids: JSON.stringify(ids) }).map(toChunk),
    byNumber,
    withSameText: (some) =>
      byHashes.all({ hashes: JSON.stringify(some.map(({ hash }) => hash)) }).map(toChunk),
    ofFile: (path) => ofWhole.all({ whole: `note:${path}` }).map(toChunk),
    ofNotes: () => notes.all().map(toChunk),
    ofTurns: (limit) => someTurns.all({ limit }).map(toChunk),
    ofChat: (chat) => ofWhole.all({ whole: `turn:${chat}` }).map(toChunk),
    beside(of, side, limit) {
      const { whole, position } = placeOf(of);
      return numbersBeside[side].all({ whole, position, n: of.n, limit });
    },
    lengths: (numbers) =>
      new Map(lengths.all({ numbers: JSON.stringify(numbers) }).map(({ n, length }) => [n, length])),
  };
}

/** Passes the values as a JSON array, so that one prepared statement works for any number of them. */
function isAmong(column: typeof chunk.n | typeof chunk.id | typeof chunk.hash, placeholder: string): SQL {
  return sql`${column} IN (SELECT value FROM json_each(${sql.placeholder(placeholder)}))`;
}

/**
 * Selects the neighbours of a position: first those of the same line or time, then the others. As one condition, SQLite
 * would scan all chunks of the same time. Raw SQL, because Drizzle cannot limit the parts of a union. The unary plus
 * keeps SQLite from planning the query again for each bound value.
 */
function prepareBeside(raw: Database["raw"], than: "<" | ">", order: "ASC" | "DESC"): Beside {
  const part = (where: string) =>
    `SELECT * FROM (SELECT n FROM chunk WHERE whole = +@whole AND ${where}
     ORDER BY position ${order}, n ${order} LIMIT +@limit)`;
  return raw
    .prepare<BesideParams, number>(
      `${part(`position = +@position AND n ${than} +@n`)} UNION ALL ${part(`position ${than} +@position`)} LIMIT +@limit`,
    )
    .pluck();
}

/** Returns the file or chat of a chunk, and its position in it. */
function placeOf({ note, chat = "", at = 0 }: Chunk): { whole: string; position: number } {
  return note === undefined
    ? { whole: `turn:${chat}`, position: at }
    : { whole: `note:${note.path}`, position: note.lines[0] };
}

function toRecord(made: NewChunk, { body }: ChunkTerms): Omit<ChunkRecord, "n"> {
  return {
    length: body.length,
    ...placeOf(made),
    id: made.id,
    source: made.source,
    text: made.text,
    hash: made.hash,
    at: made.at ?? null,
    scope: labelOf(made.scope),
    authorId: made.author?.id ?? null,
    authorName: made.author?.name ?? null,
    chat: made.chat ?? null,
    message: made.message ?? null,
    untrusted: made.untrusted ?? null,
    path: made.note?.path ?? null,
    headings: made.note?.headings ?? null,
    firstLine: made.note?.lines[0] ?? null,
    lastLine: made.note?.lines[1] ?? null,
  };
}

function toChunk(row: ChunkRecord): IndexedChunk {
  return {
    n: row.n,
    hash: row.hash,
    length: row.length,
    id: row.id,
    source: row.source,
    text: row.text,
    scope: scopeOf(row.scope),
    at: row.at ?? undefined,
    author: row.authorId === null ? undefined : { id: row.authorId, name: row.authorName ?? undefined },
    chat: row.chat ?? undefined,
    message: row.message ?? undefined,
    untrusted: row.untrusted ?? undefined,
    note:
      row.path === null
        ? undefined
        : { path: row.path, headings: row.headings ?? [], lines: [row.firstLine ?? 1, row.lastLine ?? 1] },
  };
}
