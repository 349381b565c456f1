import type { Key } from "../access.ts";
import type { Match, TermIndex } from "../database/terms.ts";
import { queriedDateTerms, withoutDates } from "../text/dates.ts";
import { terms } from "../text/terms.ts";

/**
 * How many chunks the terms of a search may be found in, all terms together. Common terms say little and cost most:
 * beyond this the rarest alone are looked for.
 */
const MAX_POSTINGS = 12_000;
const MAX_TERMS = 64;

/** What a query asks for, and how telling each part of it is. */
export interface WordQuery {
  /** Each term once. */
  readonly terms: readonly string[];
  /** How much a term says, by how few chunks have it. A term that none has says most. */
  readonly weights: ReadonlyMap<string, number>;
}

export function wordQuery(
  query: string,
  index: Pick<TermIndex, "frequencies">,
  chunks: number,
  now: number,
): WordQuery {
  const wanted = [...new Set([...terms(withoutDates(query)), ...queriedDateTerms(query, now)])].slice(
    0,
    MAX_TERMS,
  );
  const frequencies = index.frequencies(wanted);
  const weights = new Map(
    wanted.map((term) => [term, Math.log(1 + chunks / (1 + (frequencies.get(term) ?? 0)))]),
  );
  return { terms: affordable(wanted, frequencies), weights };
}

export function matchWords(
  query: WordQuery,
  index: Pick<TermIndex, "match">,
  key: Key | undefined,
  limit: number,
): Match[] {
  return query.terms.length === 0 ? [] : index.match(query.terms, key, limit);
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
