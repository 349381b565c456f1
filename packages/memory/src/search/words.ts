import type { MemoryIndex } from "../database/memory-index.ts";
import type { Match, TermIndex } from "../database/terms.ts";
import { queriedDateTerms, withoutDates } from "../text/dates.ts";
import { queryTerms } from "../text/terms.ts";
import { rankByTerms, type SoughtTerm } from "./bm25.ts";

/**
 * Maximum number of occurrences that a search reads. Common terms distinguish least and cost most, so beyond this limit
 * only the rarest terms are searched.
 */
const MAX_POSTINGS = 12_000;
const MAX_TERMS = 64;

export interface WordQuery {
  /** The distinct search terms. */
  readonly terms: readonly string[];
  /** The inverse document frequency of each term. */
  readonly weights: ReadonlyMap<string, number>;
}

export interface WordMatches {
  /** Best first. */
  readonly matches: readonly Match[];
  /** Number of searched chunks that contain each term. */
  readonly frequencies: ReadonlyMap<string, number>;
}

/** Returns the distinct terms of a query, including those of its dates. */
export function wantedTerms(query: string, now: number): readonly string[] {
  const terms = new Set([...queryTerms(withoutDates(query)), ...queriedDateTerms(query, now)]);
  return [...terms].slice(0, MAX_TERMS);
}

export function wordQuery(
  wanted: readonly string[],
  index: Pick<TermIndex, "frequencies">,
  chunks: number,
): WordQuery {
  const frequencies = index.frequencies(wanted);
  const weights = new Map(
    wanted.map((term) => [
      term,
      Math.log(1 + (chunks - (frequencies.get(term) ?? 0) + 0.5) / ((frequencies.get(term) ?? 0) + 0.5)),
    ]),
  );
  return { terms: affordable(wanted, frequencies), weights };
}

/** Returns the best matches, among the chunks in `visible` if it is given. */
export function matchWords(
  query: WordQuery,
  { terms, chunks, census }: Pick<MemoryIndex, "terms" | "chunks" | "census">,
  visible: ReadonlySet<number> | undefined,
  limit: number,
): WordMatches {
  const frequencies = new Map<string, number>();
  const sought = query.terms.map((term): SoughtTerm => {
    const counts = new Map<number, number>();
    for (const n of terms.occurrences(term)) {
      if (visible?.has(n) !== false) counts.set(n, (counts.get(n) ?? 0) + 1);
    }
    frequencies.set(term, counts.size);
    return { weight: query.weights.get(term) ?? 0, counts };
  });
  const { notes, turns, length } = census.all();
  const lengths = { average: length / (notes + turns), of: chunks.lengths };
  return { matches: rankByTerms(sought, lengths, limit), frequencies };
}

/** Counts occurrences in all chunks, including invisible ones, because reading them costs the same. */
function affordable(wanted: readonly string[], frequencies: ReadonlyMap<string, number>): string[] {
  const frequency = (term: string) => frequencies.get(term) ?? 0;
  let postings = 0;
  return wanted
    .toSorted((a, b) => frequency(a) - frequency(b))
    .filter((term, place) => {
      postings += frequency(term);
      return place === 0 || postings <= MAX_POSTINGS;
    });
}
