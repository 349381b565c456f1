import type { Match } from "../database/terms.ts";

/** A query term with its weight and its number of occurrences in each chunk that contains it. */
export interface SoughtTerm {
  readonly weight: number;
  readonly counts: ReadonlyMap<number, number>;
}

export interface Lengths {
  /** Average number of terms over all chunks. */
  readonly average: number;
  of(chunks: readonly number[]): ReadonlyMap<number, number>;
}

/** BM25's `k1`: how quickly repetitions of a term stop adding to the score. */
const K1 = 0.9;
/** BM25's `b`: how much long chunks are penalized. */
const B = 0.4;
/** Number of chunks whose lengths are read, as a multiple of the wanted number. */
const SHORTLIST = 6;

/**
 * Returns the best chunks by BM25. SQLite's own BM25 reads the length of every chunk that has any of the terms, which
 * takes most of its time. This one first ranks as if all chunks were equally long, and reads the lengths of the best.
 */
export function rankByTerms(terms: readonly SoughtTerm[], lengths: Lengths, limit: number): Match[] {
  const shortlist = best(
    score(terms, () => 1),
    limit * SHORTLIST,
  ).map(({ n }) => n);
  const read = lengths.of(shortlist);
  const relative = (n: number) => {
    const length = read.get(n);
    return length === undefined ? undefined : length / lengths.average;
  };
  return best(score(terms, relative), limit);
}

/** Scores the chunks for which `relativeLength` returns a number. */
function score(
  terms: readonly SoughtTerm[],
  relativeLength: (n: number) => number | undefined,
): Map<number, number> {
  const scores = new Map<number, number>();
  for (const { weight, counts } of terms) {
    for (const [n, count] of counts) {
      const length = relativeLength(n);
      if (length === undefined) continue;
      const damping = K1 * (1 - B + B * length);
      scores.set(n, (scores.get(n) ?? 0) + (weight * count * (K1 + 1)) / (count + damping));
    }
  }
  return scores;
}

function best(scores: ReadonlyMap<number, number>, limit: number): Match[] {
  // Sorting numbers is much faster than sorting pairs.
  const worst = Float64Array.from(scores.values()).sort().at(-limit) ?? 0;
  const matches: Match[] = [];
  for (const [n, value] of scores) if (value >= worst) matches.push({ n, score: value });
  return matches.sort((a, b) => b.score - a.score || b.n - a.n).slice(0, limit);
}
