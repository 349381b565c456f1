import { count, eq, sql } from "drizzle-orm";
import { guardOf, type Key, labelOf, opens, scopeOf } from "../access.ts";
import type { Chunk } from "../types.ts";
import { type Database, prepareInsert, untilWritten } from "./open.ts";
import { type ChunkRecord, chunk } from "./schema.ts";
import type { TermIndex } from "./terms.ts";

/** A chunk as the index keeps it: `n` is its number there, `hash` that of its text. */
export interface IndexedChunk extends Chunk {
  readonly n: number;
  readonly hash: string;
}

/** How many chunks a reader may see. */
interface Counts {
  readonly notes: number;
  readonly turns: number;
}

/** The chunks, each with its terms. */
export interface ChunkTable {
  add(made: Chunk & { readonly hash: string }): void;
  remove(chunks: readonly IndexedChunk[]): void;
  byId(id: string): IndexedChunk | undefined;
  byNumber(numbers: readonly number[]): IndexedChunk[];
  ofFile(path: string): IndexedChunk[];
  /** The numbers of those next to one in its file or chat, the nearest first. */
  beside(of: IndexedChunk, side: "before" | "after", limit: number): number[];
  counts(key: Key): Counts;
  /** Whoever may see them. */
  totals(): Counts;
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

export function createChunkTable({ db, raw }: Database, termIndex: TermIndex): ChunkTable {
  const insert = prepareInsert(db, chunk);
  const remove = db
    .delete(chunk)
    .where(eq(chunk.n, sql.placeholder("n")))
    .prepare();
  const byId = db
    .select()
    .from(chunk)
    .where(eq(chunk.id, sql.placeholder("id")))
    .prepare();
  const ofWhole = db
    .select()
    .from(chunk)
    .where(eq(chunk.whole, sql.placeholder("whole")))
    .orderBy(chunk.position, chunk.n)
    .prepare();
  const numbersBeside = { before: prepareBeside(raw, "<", "DESC"), after: prepareBeside(raw, ">", "ASC") };
  const tally = untilWritten(raw, () =>
    db
      .select({ source: chunk.source, scope: chunk.scope, authorId: chunk.authorId, count: count() })
      .from(chunk)
      .groupBy(chunk.source, chunk.scope, chunk.authorId)
      .all()
      .map((row) => ({ ...row, ...guardOf(row) })),
  );

  const byNumbers = db
    .select()
    .from(chunk)
    .where(sql`${chunk.n} IN (SELECT value FROM json_each(${sql.placeholder("numbers")}))`)
    .prepare();

  /** In the order of the numbers. */
  function byNumber(numbers: readonly number[]): IndexedChunk[] {
    const places = new Map(numbers.map((n, place) => [n, place]));
    const place = ({ n }: IndexedChunk) => places.get(n) ?? 0;
    return byNumbers
      .all({ numbers: JSON.stringify(numbers) })
      .map(toChunk)
      .sort((a, b) => place(a) - place(b));
  }

  return {
    add(made) {
      const { lastInsertRowid } = insert.run(toRecord(made));
      termIndex.add(Number(lastInsertRowid), made);
    },
    remove(chunks) {
      for (const { n } of chunks) {
        remove.run({ n });
        termIndex.remove(n);
      }
    },
    byId(id) {
      const row = byId.get({ id });
      return row === undefined ? undefined : toChunk(row);
    },
    byNumber,
    ofFile: (path) => ofWhole.all({ whole: `note:${path}` }).map(toChunk),
    beside(of, side, limit) {
      const { whole, position } = placeOf(of);
      return numbersBeside[side].all({ whole, position, n: of.n, limit });
    },
    counts: (key) => sums(tally().filter((group) => opens(key, group))),
    totals: () => sums(tally()),
  };
}

/**
 * Those next to a place. First among those of the same line or time, then beyond: asked for at once, SQLite would look
 * at all that were said at the same time. Drizzle cannot limit the parts of a union.
 */
function prepareBeside(raw: Database["raw"], than: "<" | ">", order: "ASC" | "DESC"): Beside {
  const part = (where: string) =>
    `SELECT * FROM (SELECT n FROM chunk WHERE whole = @whole AND ${where}
     ORDER BY position ${order}, n ${order} LIMIT @limit)`;
  return raw
    .prepare<BesideParams, number>(
      `${part(`position = @position AND n ${than} @n`)} UNION ALL ${part(`position ${than} @position`)} LIMIT @limit`,
    )
    .pluck();
}

function sums(groups: readonly { readonly source: Chunk["source"]; readonly count: number }[]): Counts {
  const of = (source: Chunk["source"]) =>
    groups.reduce((sum, group) => sum + (group.source === source ? group.count : 0), 0);
  return { notes: of("note"), turns: of("turn") };
}

/** What a chunk is a part of, and where in it. */
function placeOf({ note, chat = "", at = 0 }: Chunk): { whole: string; position: number } {
  return note === undefined
    ? { whole: `turn:${chat}`, position: at }
    : { whole: `note:${note.path}`, position: note.lines[0] };
}

function toRecord(made: Chunk & { readonly hash: string }): Omit<ChunkRecord, "n"> {
  return {
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
