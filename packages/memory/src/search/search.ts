import { type Key, keyOf } from "../access.ts";
import type { IndexedChunk } from "../database/chunks.ts";
import type { MemoryIndex } from "../database/memory-index.ts";
import type { Match } from "../database/terms.ts";
import { dateTerms } from "../text/dates.ts";
import { terms } from "../text/terms.ts";
import type { Chunk, Hit, SearchMode, SearchOptions, SearchResult } from "../types.ts";
import { rankAsConversation } from "./conversation.ts";
import { neighboursOf } from "./neighbours.ts";
import { diversify, fuseByRank, preferRecent, type Ranked } from "./ranking.ts";
import { summarise } from "./summary.ts";
import type { QueryVector } from "./vectors.ts";
import { coverage, matchWords, type WordQuery, wantedTerms, wordQuery } from "./words.ts";

const DEFAULT_LIMIT = 8;
const MAX_LIMIT = 100;
/** How many chunks of each list are looked at for each that is wanted, and at least. */
const POOL = 4;
const MIN_POOL = 50;
/** How many of the best a choice is made from, beyond twice as many as are wanted. */
const SPARE = 8;

export interface Query {
  readonly text: string;
  /** The text as a vector, or why there is none. */
  readonly vector: QueryVector;
  /** "Yesterday" is the day before. */
  readonly now: number;
  readonly halfLifeDays: number;
  /** Whether only words that say which chunk is meant are looked for. Default: all of them. */
  readonly isTellingOnly?: boolean;
  /** What is not to be found. Default: nothing. */
  readonly except?: ((chunk: Chunk) => boolean) | undefined;
}

export interface Found {
  readonly hits: readonly Hit[];
  /** The words that were looked for. */
  readonly terms: readonly string[];
}

/** The same with an account of what was searched, and how. */
export function search(index: MemoryIndex, query: Query, options: SearchOptions): SearchResult {
  const { hits, terms } = find(index, query, options);
  const { notes, turns } = index.census.visible(keyOf(options.reader ?? {}));
  const mode = modeOf(query.vector, index);
  const searched = { notes, turns, terms };
  return { hits, mode, searched, summary: summarise(hits.length, mode, searched) };
}

/** Finds what a query asks for, by words and, if there are any, by vectors. */
export function find(index: MemoryIndex, query: Query, options: SearchOptions): Found {
  const { text, vector, now, halfLifeDays, isTellingOnly, except = () => false } = query;
  const limit = Math.min(options.limit ?? DEFAULT_LIMIT, MAX_LIMIT);
  const pool = Math.max(MIN_POOL, limit * POOL);
  const key = keyOf(options.reader ?? {});
  const [all, visible] = [index.census.all(), index.census.visible(key)];
  const wanted = wantedTerms(text, now);
  if (visible.notes + visible.turns === 0) return { hits: [], terms: wanted };
  const isTelling = isTellingOnly ? index.tellingTo(key) : undefined;
  const words = wordQuery(wanted, index.terms, all.notes + all.turns, isTelling);

  const byWords = rankByWords(index, words, { key, pool, except });
  const byVectors = rankByVectors(index, vector, key, pool);
  const lists = vector.kind === "none" ? [byWords] : [byWords, byVectors];
  const fused = fuseByRank(lists.map((list) => preferRecent(list, halfLifeDays)));

  const candidates = fused
    .filter(({ chunk }) => !except(chunk))
    .slice(0, limit * 2 + SPARE)
    .map((ranked) => ({ ...ranked, terms: termsOf(ranked.chunk) }));
  const chosen = diversify(candidates, limit);
  const similarities = new Map(byVectors.map(({ chunk, score }) => [chunk.n, score]));
  const best = chosen[0]?.score ?? 1;
  const hits = chosen.map(({ chunk, score, terms: present }): Hit => {
    const { before, after } = neighboursOf(chunk, index.chunks, key, options.neighbours ?? 1);
    const similarity = similarities.get(chunk.n);
    return {
      ...toPublic(chunk),
      score: score / best,
      coverage: coverage(words, new Set([...present, ...dateTerms(chunk.text, chunk.at)])),
      ...(similarity === undefined ? {} : { similarity }),
      before: before.map(toPublic),
      after: after.map(toPublic),
    };
  });
  return { hits, terms: words.terms };
}

interface Wanted {
  readonly key: Key;
  readonly pool: number;
  readonly except: (chunk: Chunk) => boolean;
}

function rankByWords(index: MemoryIndex, words: WordQuery, { key, pool, except }: Wanted): Ranked[] {
  if (words.terms.length === 0) return [];
  const { chunks, census, terms } = index;
  const opened = census.isPartHidden(key) ? terms.opened(words.terms, key) : undefined;
  // To go through the places where others have the words, too, takes much longer than to look at a few chunks.
  if (opened !== undefined && opened.size <= pool && chunks.byNumber([...opened]).every(except)) return [];
  const matches = matchWords(words, index, opened, pool);
  return rankAsConversation(toRanked(chunks, matches), { chunks, key, terms: new Set(words.weights.keys()) });
}

function rankByVectors(
  { chunks, vectors }: MemoryIndex,
  vector: QueryVector,
  key: Key,
  pool: number,
): Ranked[] {
  return vector.kind === "none"
    ? []
    : toRanked(chunks, vectors.nearest(vector.model, vector.values, key, pool));
}

function toRanked(chunks: MemoryIndex["chunks"], matches: readonly Match[]): Ranked[] {
  const scores = new Map(matches.map(({ n, score }) => [n, score]));
  return chunks.byNumber([...scores.keys()]).map((chunk) => ({ chunk, score: scores.get(chunk.n) ?? 0 }));
}

/** What a chunk says, and what it is headed by. */
function termsOf({ text, author, note }: IndexedChunk): ReadonlySet<string> {
  return new Set(terms([text, author?.name ?? author?.id ?? "", ...(note?.headings ?? [])].join("\n")));
}

function modeOf(vector: QueryVector, { vectors }: MemoryIndex): SearchMode {
  if (vector.kind === "none") return { kind: "words", reason: vector.reason };
  const { model } = vector;
  return { kind: "words and vectors", model, engine: vectors.engine, pending: vectors.countMissing(model) };
}

/** Without what only the index knows. */
export function toPublic({ n: _n, hash: _hash, length: _length, ...chunk }: IndexedChunk): Chunk {
  return chunk;
}
