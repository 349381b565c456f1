import { type Key, labelsOf } from "../access.ts";
import { dateTerms } from "../text/dates.ts";
import { terms } from "../text/terms.ts";
import type { Chunk } from "../types.ts";
import { type Database, foreignVersion } from "./open.ts";

/** The terms of a chunk, by where they stand. */
export interface ChunkTerms {
  readonly body: readonly string[];
  /** Its author and headings. */
  readonly about: readonly string[];
  readonly dates: readonly string[];
  /** Whom it opens to. */
  readonly access: readonly string[];
}

export type TermColumn = keyof ChunkTerms;

export interface Match {
  readonly n: number;
  /** Higher is better. */
  readonly score: number;
}

/** A place where a term stands: the number of the chunk, and the column. */
type Occurrence = readonly [n: number, column: TermColumn];

/** SQLite's full-text index over the terms of the chunks; what drizzle has no words for. */
export interface TermIndex {
  add(n: number, chunkTerms: ChunkTerms): void;
  remove(n: number): void;
  /** In how many chunks each of the terms is; of common ones within a twentieth. */
  frequencies(wanted: readonly string[]): Map<string, number>;
  occurrences(term: string): readonly Occurrence[];
  /** The chunks with any of the terms that the key opens. */
  opened(wanted: readonly string[], key: Key): Set<number>;
  /** Rewrites the index without what was removed from it. */
  compact(): void;
}

/** Terms in fewer chunks are counted each time. */
const COUNTED = 100;
const MOST_COMMON = 1_000;
/** A count holds until so large a part of it has come and gone. */
const STEADY = 20;
/** UTF-16 units of a chunk that it is found by: only a single line is longer, and would hold everybody else up. */
const MOST_READ = 20_000;

export function termsOfChunk(chunk: Chunk): ChunkTerms {
  const { at, author, note } = chunk;
  const text = chunk.text.slice(0, MOST_READ);
  return {
    body: terms(text),
    about: terms([author?.name ?? author?.id ?? "", ...(note?.headings ?? [])].join("\n")),
    dates: dateTerms(text, at),
    access: labelsOf(chunk).map(accessTerm),
  };
}

export function createTermIndex({ raw }: Database): TermIndex {
  const insert = raw.prepare(
    "INSERT INTO chunk_terms (rowid, body, about, dates, access) VALUES (?, ?, ?, ?, ?)",
  );
  const remove = raw.prepare("DELETE FROM chunk_terms WHERE rowid = ?");
  const frequency = raw.prepare<[string], number>("SELECT doc FROM term_count WHERE term = ?").pluck();
  const occurrences = raw
    .prepare<[string], Occurrence>("SELECT doc, col FROM term_place WHERE term = ?")
    .raw();
  const matching = raw
    .prepare<[string], number>("SELECT rowid FROM chunk_terms WHERE chunk_terms MATCH ?")
    .pluck();
  const compact = raw.prepare("INSERT INTO chunk_terms (chunk_terms) VALUES ('optimize')");
  const common = new Map<string, { readonly count: number; readonly changes: number }>();
  const versionNow = foreignVersion(raw);
  let changes = 0;
  let version: number | undefined;

  /** Counting goes through all places of a term: a common one is counted again once it may be another part of all. */
  function frequencyOf(term: string): number {
    const last = common.get(term);
    if (last !== undefined && (changes - last.changes) * STEADY < last.count) return last.count;
    const count = frequency.get(term) ?? 0;
    if (count < COUNTED) return count;
    if (common.size >= MOST_COMMON) common.clear();
    common.set(term, { count, changes });
    return count;
  }

  function frequencies(wanted: readonly string[]): Map<string, number> {
    const current = versionNow();
    if (current !== version) common.clear();
    version = current;
    return new Map(wanted.map((term) => [term, frequencyOf(term)]));
  }

  return {
    add(n, { body, about, dates, access }) {
      changes += 1;
      insert.run(n, body.join(" "), about.join(" "), dates.join(" "), access.join(" "));
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
    compact() {
      compact.run();
    },
  };
}

/** No term of a text begins so, and none of a label has a character that FTS5 would cut at. */
function accessTerm(label: string): string {
  return `~${Buffer.from(label).toString("hex")}`;
}

/** As FTS5 takes strings for what they are, whatever stands in them. */
function anyOf(wanted: readonly string[]): string {
  return wanted.map((term) => `"${term.replaceAll('"', '""')}"`).join(" OR ");
}
