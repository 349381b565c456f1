import type { MemoryIndex } from "../database/memory-index.ts";
import type { IsTelling } from "../database/telling-terms.ts";
import type { Match, TermColumn, TermIndex } from "../database/terms.ts";
import { queriedDateTerms, withoutDates } from "../text/dates.ts";
import { queryTerms } from "../text/terms.ts";
import { rankByTerms, type SoughtTerm } from "./bm25.ts";

/**
 * How many chunks the terms of a search may be found in, all terms together. Common terms say little and cost most:
 * beyond this the rarest alone are looked for.
 */
const MAX_POSTINGS = 12_000;
const MAX_TERMS = 64;
/** What a text itself says counts more than what stands over it. */
const COLUMN_WEIGHTS: Readonly<Record<TermColumn, number>> = { body: 1, about: 0.6, dates: 0.6, access: 0 };

/** What a query asks for, and how telling each part of it is. */
export interface WordQuery {
  /** Each term once. */
  readonly terms: readonly string[];
  /** How much a term says, by how few chunks have it. A term that none has says most. */
  readonly weights: ReadonlyMap<string, number>;
}

/** Each term that a query asks for, once. */
export function wantedTerms(query: string, now: number): readonly string[] {
  const terms = new Set([...queryTerms(withoutDates(query)), ...queriedDateTerms(query, now)]);
  return [...terms].slice(0, MAX_TERMS);
}

/** @param isTelling default: each term is */
export function wordQuery(
  wanted: readonly string[],
  index: Pick<TermIndex, "frequencies">,
  chunks: number,
  isTelling: IsTelling = () => true,
): WordQuery {
  const frequencies = index.frequencies(wanted);
  const weights = new Map(
    wanted.map((term) => [
      term,
      Math.log(1 + (chunks - (frequencies.get(term) ?? 0) + 0.5) / ((frequencies.get(term) ?? 0) + 0.5)),
    ]),
  );
  const sought = affordable(wanted, frequencies).filter((term) =>
    isTelling(term, frequencies.get(term) ?? 0),
  );
  return { terms: sought, weights };
}

/** The chunks that say most of what is asked for, of those that are `opened`; without it of all. */
export function matchWords(
  query: WordQuery,
  { terms, chunks, census }: Pick<MemoryIndex, "terms" | "chunks" | "census">,
  opened: ReadonlySet<number> | undefined,
  limit: number,
): Match[] {
  const sought = query.terms.map((term): SoughtTerm => {
    const counts = new Map<number, number>();
    for (const [n, column] of terms.occurrences(term)) {
      if (opened?.has(n) === false) continue;
      counts.set(n, (counts.get(n) ?? 0) + COLUMN_WEIGHTS[column]);
    }
    return { weight: query.weights.get(term) ?? 0, counts };
  });
  const { notes, turns, length } = census.all();
  return rankByTerms(sought, { average: length / (notes + turns), of: chunks.lengths }, limit);
}

/** How much of what is asked for stands in a text, from 0 to 1. */
export function coverage(query: WordQuery, present: ReadonlySet<string>): number {
  let all = 0;
  let covered = 0;
  for (const [term, weight] of query.weights) {
    all += weight;
    if (present.has(term)) covered += weight;
  }
  return all === 0 ? 0 : covered / all;
}

/** What everybody's chunks have counts: to go through the places of a term costs that much, whoever may see them. */
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
