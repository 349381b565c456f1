import { eq, type SQL, sql } from "drizzle-orm";
import { labelOf, scopeOf } from "../access.ts";
import type { Chunk } from "../types.ts";
import type { Census } from "./census.ts";
import { type Database, prepareInsert } from "./open.ts";
import { type ChunkRecord, chunk } from "./schema.ts";
import { type ChunkTerms, type TermIndex, termsOfChunk } from "./terms.ts";

/** A chunk with the hash of its text. */
export type NewChunk = Chunk & { readonly hash: string };

/** A chunk as the index keeps it: `n` is its number there, `length` that of its terms. */
export interface IndexedChunk extends NewChunk {
  readonly n: number;
  readonly length: number;
}

/** The chunks, each with its terms. */
export interface ChunkTable {
  add(chunks: readonly NewChunk[]): void;
  remove(chunks: readonly IndexedChunk[]): void;
  byIds(ids: readonly string[]): IndexedChunk[];
  byNumber(numbers: readonly number[]): IndexedChunk[];
  /** Returns the chunks that have the text of any of the given ones, including these. */
  withSameText(chunks: readonly IndexedChunk[]): IndexedChunk[];
  ofFile(path: string): IndexedChunk[];
  ofChat(chat: string): IndexedChunk[];
  /** So many turns of any conversation. */
  ofTurns(limit: number): IndexedChunk[];
  /** The numbers of those next to one in its file or chat, the nearest first. */
  beside(of: IndexedChunk, side: "before" | "after", limit: number): number[];
  /** How many terms each of them has. */
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

  /** In the order of the numbers. */
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

/** In a list of JSON, so that one statement serves for however many. */
function isAmong(column: typeof chunk.n | typeof chunk.id | typeof chunk.hash, placeholder: string): SQL {
  return sql`${column} IN (SELECT value FROM json_each(${sql.placeholder(placeholder)}))`;
}

/**
 * Those next to a place. First among those of the same line or time, then beyond: asked for at once, SQLite would look
 * at all that were said at the same time. Drizzle cannot limit the parts of a union. Behind a plus SQLite does not look
 * at what is bound, after which it would plan anew each time.
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

/** What a chunk is a part of, and where in it. */
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
    ...(row.at === null ? {} : { at: row.at }),
    ...(row.authorId === null
      ? {}
      : { author: { id: row.authorId, ...(row.authorName === null ? {} : { name: row.authorName }) } }),
    ...(row.chat === null ? {} : { chat: row.chat }),
    ...(row.message === null ? {} : { message: row.message }),
    ...(row.untrusted === null ? {} : { untrusted: row.untrusted }),
    ...(row.path === null
      ? {}
      : {
          note: {
            path: row.path,
            headings: row.headings ?? [],
            lines: [row.firstLine ?? 1, row.lastLine ?? 1] as const,
          },
        }),
  };
}
