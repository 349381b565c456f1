import { type Key, keyOf } from "../access.ts";
import type { IndexedChunk } from "../database/chunks.ts";
import type { MemoryIndex } from "../database/memory-index.ts";
import { type Match, searchedTerms } from "../database/terms.ts";
import { dateTerms } from "../text/dates.ts";
import type { Chunk, Hit, SearchMode, SearchOptions, SearchResult } from "../types.ts";
import { rankAsConversation } from "./conversation.ts";
import { chanceOf, topicsIn } from "./evidence.ts";
import { neighboursOf } from "./neighbours.ts";
import { fuseByRank, preferRecent, type Ranked, withoutRepetitions } from "./ranking.ts";
import { summarize } from "./summary.ts";
import type { QueryVector } from "./vectors.ts";
import { matchWords, type WordQuery, wantedTerms, wordQuery } from "./words.ts";

const DEFAULT_LIMIT = 8;
const MAX_LIMIT = 100;
/** Length of each ranked list as a multiple of the limit. At least `MIN_POOL` chunks are ranked. */
const POOL = 4;
const MIN_POOL = 50;

export interface Query {
  readonly text: string;
  /** The text's embedding, or the reason why there is none. */
  readonly vector: QueryVector;
  /** The time to which relative dates such as "yesterday" refer. */
  readonly now: number;
  readonly halfLifeDays: number;
  /** Excludes chunks from the result. Default: none. */
  readonly except?: (chunk: Chunk) => boolean;
}

export interface Found {
  readonly hits: readonly Hit[];
  /** The search terms. */
  readonly terms: readonly string[];
  /** Terms among them that more than a quarter of the visible chunks contain. */
  readonly topics: readonly string[];
}

/** Searches, and reports the searched content and the mode. */
export function search(index: MemoryIndex, query: Query, options: SearchOptions): SearchResult {
  const { hits, terms } = find(index, query, options);
  const { notes, turns } = index.census.visible(keyOf(options.reader ?? {}));
  const mode = modeOf(query.vector, index);
  const searched = { notes, turns, terms };
  return { hits, mode, searched, summary: summarize(hits.length, mode, searched) };
}

/** Finds chunks by words and, if there is an embedding, by vectors. */
export function find(index: MemoryIndex, query: Query, options: SearchOptions): Found {
  const { text, vector, now, halfLifeDays, except = () => false } = query;
  const limit = Math.min(options.limit ?? DEFAULT_LIMIT, MAX_LIMIT);
  const pool = Math.max(MIN_POOL, limit * POOL);
  const key = keyOf(options.reader ?? {});
  const [all, visible] = [index.census.all(), index.census.visible(key)];
  const wanted = wantedTerms(text, now);
  if (visible.notes + visible.turns === 0) return { hits: [], terms: wanted, topics: [] };
  const words = wordQuery(wanted, index.terms, all.notes + all.turns);

  const byWords = rankByWords(index, words, { key, pool, except });
  const byVectors = rankByVectors(index, vector, key, pool);
  const lists = vector.kind === "none" ? [byWords.ranked] : [byWords.ranked, byVectors];
  const fused = fuseByRank(lists.map((list) => preferRecent(list, halfLifeDays)));
  const chosen = withoutRepetitions(fused.filter(({ chunk }) => !except(chunk))).slice(0, limit);

  const similarities = new Map(byVectors.map(({ chunk, score }) => [chunk.n, score]));
  // "How are you today?" does not ask for today's messages.
  const today = new Set(dateTerms("", now));
  const frequencies = new Map([...byWords.frequencies].filter(([term]) => !today.has(term)));
  const evidence = { frequencies, chunks: visible.notes + visible.turns };
  const chance = chanceOf(evidence);
  const best = chosen[0]?.score ?? 1;
  const hits = chosen.map(({ chunk, score }): Hit => {
    const { before, after } = neighboursOf(chunk, index.chunks, key, options.neighbours ?? 1);
    return {
      ...toPublic(chunk),
      score: score / best,
      byChance: chance(searchedTerms(chunk)),
      similarity: similarities.get(chunk.n),
      before: before.map(toPublic),
      after: after.map(toPublic),
    };
  });
  return { hits, terms: words.terms, topics: topicsIn(evidence) };
}

interface Wanted {
  readonly key: Key;
  readonly pool: number;
  readonly except: (chunk: Chunk) => boolean;
}

interface RankedByWords {
  readonly ranked: readonly Ranked[];
  readonly frequencies: ReadonlyMap<string, number>;
}

const NOTHING: RankedByWords = { ranked: [], frequencies: new Map() };

function rankByWords(index: MemoryIndex, words: WordQuery, { key, pool, except }: Wanted): RankedByWords {
  if (words.terms.length === 0) return NOTHING;
  const { chunks, census, terms } = index;
  const visible = census.isPartHidden(key) ? terms.opened(words.terms, key) : undefined;
  // Reading a few chunks is much faster than reading all occurrences of the terms in other people's chunks.
  if (visible !== undefined && visible.size <= pool && chunks.byNumber([...visible]).every(except))
    return NOTHING;
  const { matches, frequencies } = matchWords(words, index, visible, pool);
  const ranked = rankAsConversation(toRanked(chunks, matches), {
    chunks,
    key,
    terms: new Set(words.weights.keys()),
  });
  return { ranked, frequencies };
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

function modeOf(vector: QueryVector, { vectors }: MemoryIndex): SearchMode {
  if (vector.kind === "none") return { kind: "words", reason: vector.reason };
  const { model } = vector;
  return { kind: "words and vectors", model, engine: vectors.engine, pending: vectors.countMissing(model) };
}

/** Removes the fields that only the index uses. */
export function toPublic({ n: _n, hash: _hash, length: _length, ...chunk }: IndexedChunk): Chunk {
  return chunk;
}
