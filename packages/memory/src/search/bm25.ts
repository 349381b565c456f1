import type { Match } from "../database/terms.ts";

/** A term that is looked for: how telling it is, and how often it stands in each chunk that has it. */
export interface SoughtTerm {
  readonly weight: number;
  readonly counts: ReadonlyMap<number, number>;
}

export interface Lengths {
  /** Of all chunks. */
  readonly average: number;
  of(chunks: readonly number[]): ReadonlyMap<number, number>;
}

/** How soon more of the same term adds nothing. */
const SATURATION = 0.9;
/** How much a long chunk has to say more to be as good. */
const LENGTH_WEIGHT = 0.4;
/** Lengths are read for so many times as many chunks as are wanted; they hardly lift any from further below. */
const SHORTLIST = 6;

/**
 * The best chunks by BM25. SQLite's own reads the length of every chunk that has any of the terms, which takes most of
 * its time; here only those get theirs that are among the best when all are taken to be equally long.
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

/** Of the chunks that have a length. */
function score(
  terms: readonly SoughtTerm[],
  relativeLength: (n: number) => number | undefined,
): Map<number, number> {
  const scores = new Map<number, number>();
  for (const { weight, counts } of terms) {
    for (const [n, count] of counts) {
      const length = relativeLength(n);
      if (length === undefined) continue;
      const damping = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length);
      scores.set(n, (scores.get(n) ?? 0) + (weight * count * (SATURATION + 1)) / (count + damping));
    }
  }
  return scores;
}

function best(scores: ReadonlyMap<number, number>, limit: number): Match[] {
  // Numbers alone are sorted much faster than pairs.
  const worst = Float64Array.from(scores.values()).sort().at(-limit) ?? 0;
  const matches: Match[] = [];
  for (const [n, value] of scores) if (value >= worst) matches.push({ n, score: value });
  return matches.sort((a, b) => b.score - a.score || b.n - a.n).slice(0, limit);
}
