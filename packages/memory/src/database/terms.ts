import { type Key, labelsOf } from "../access.ts";
import { dateTerms } from "../text/dates.ts";
import { terms } from "../text/terms.ts";
import type { Chunk } from "../types.ts";
import { type Database, foreignVersion } from "./open.ts";

/** The terms of a chunk, by column of the full-text index. */
export interface ChunkTerms {
  /** Terms of the text, the author's name, the headings and the dates. */
  readonly body: readonly string[];
  /** Labels of the readers who may see the chunk. */
  readonly access: readonly string[];
}

export interface Match {
  /** The number of a chunk. */
  readonly n: number;
  /** Higher is better. */
  readonly score: number;
}

/** SQLite's full-text index over the terms of the chunks. Drizzle does not support it, so it is raw SQL. */
export interface TermIndex {
  add(n: number, chunkTerms: ChunkTerms): void;
  remove(n: number): void;
  /** Returns the number of chunks that contain each term. Frequencies of common terms may be off by 5 %. */
  frequencies(wanted: readonly string[]): Map<string, number>;
  /** Returns the number of a chunk for each occurrence of a term. */
  occurrences(term: string): readonly number[];
  /** Returns the chunks that contain any of the terms and are visible to the key. */
  opened(wanted: readonly string[], key: Key): Set<number>;
  /**
   * Merges the segments of the index, which purges removed terms from the file. Does a limited amount of work.
   *
   * @returns whether there is more to merge
   */
  mergeSome(isFirst: boolean): boolean;
}

/** Minimum frequency that is cached. */
const MIN_CACHED_FREQUENCY = 100;
const MAX_CACHED = 1_000;
/** A cached frequency is used until one chunk in this many has changed. */
const CACHE_TOLERANCE = 20;
/**
 * Maximum number of UTF-16 code units of a chunk that are indexed. Only a single line can be longer, and it would block
 * the event loop.
 */
const MAX_INDEXED_CHARS = 20_000;
/** Number of pages that one call of {@link TermIndex.mergeSome} merges. This takes a few milliseconds. */
const MERGE_PAGES = 250;

export function termsOfChunk(chunk: Chunk): ChunkTerms {
  const { at, author, note } = chunk;
  // Ids of authors are not indexed, because "agent:main" is not about agents.
  const indexed = [chunk.text.slice(0, MAX_INDEXED_CHARS), author?.name ?? "", ...(note?.headings ?? [])];
  return {
    body: [...terms(indexed.join("\n")), ...dateTerms(chunk.text.slice(0, MAX_INDEXED_CHARS), at)],
    access: labelsOf(chunk).map(accessTerm),
  };
}

/** Returns the terms by which a chunk can be found. */
export function searchedTerms(chunk: Chunk): ReadonlySet<string> {
  return new Set(termsOfChunk(chunk).body);
}

export function createTermIndex({ raw }: Database): TermIndex {
  const insert = raw.prepare("INSERT INTO chunk_terms (rowid, body, access) VALUES (?, ?, ?)");
  const remove = raw.prepare("DELETE FROM chunk_terms WHERE rowid = ?");
  const frequency = raw.prepare<[string], number>("SELECT doc FROM term_count WHERE term = ?").pluck();
  const occurrences = raw.prepare<[string], number>("SELECT doc FROM term_place WHERE term = ?").pluck();
  const matching = raw
    .prepare<[string], number>("SELECT rowid FROM chunk_terms WHERE chunk_terms MATCH ?")
    .pluck();
  const merge = raw.prepare<[number]>("INSERT INTO chunk_terms (chunk_terms, rank) VALUES ('merge', ?)");
  const totalChanges = raw.prepare<[], number>("SELECT total_changes()").pluck();
  const cache = new Map<string, { readonly count: number; readonly changes: number }>();
  const versionNow = foreignVersion(raw);
  let changes = 0;
  let version: number | undefined;

  /** Counting reads all occurrences of a term, so counts of common terms are cached. */
  function frequencyOf(term: string): number {
    const last = cache.get(term);
    if (last !== undefined && (changes - last.changes) * CACHE_TOLERANCE < last.count) return last.count;
    const count = frequency.get(term) ?? 0;
    if (count < MIN_CACHED_FREQUENCY) return count;
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(term, { count, changes });
    return count;
  }

  function frequencies(wanted: readonly string[]): Map<string, number> {
    const current = versionNow();
    if (current !== version) cache.clear();
    version = current;
    return new Map(wanted.map((term) => [term, frequencyOf(term)]));
  }

  return {
    add(n, { body, access }) {
      changes += 1;
      insert.run(n, body.join(" "), access.join(" "));
    },
    remove(n) {
      changes += 1;
      remove.run(n);
    },
    frequencies,
    occurrences: (term) => occurrences.all(term),
    opened(wanted, key) {
      const labels = key.labels.map(accessTerm);
      return new Set(matching.all(`(access : (${anyOf(labels)})) AND (${anyOf(wanted)})`));
    },
    mergeSome(isFirst) {
      const before = totalChanges.get() ?? 0;
      // A negative number starts a merge of all segments: https://sqlite.org/fts5.html#the_merge_command
      merge.run(isFirst ? -MERGE_PAGES : MERGE_PAGES);
      return (totalChanges.get() ?? 0) - before >= 2;
    },
  };
}

/** Encodes a label so that it is different from all terms of texts and contains no character at which FTS5 splits. */
function accessTerm(label: string): string {
  return `~${Buffer.from(label).toString("hex")}`;
}

/** Quotes each term as an FTS5 string, so that no character in it has a meaning. */
function anyOf(wanted: readonly string[]): string {
  return wanted.map((term) => `"${term.replaceAll('"', '""')}"`).join(" OR ");
}
