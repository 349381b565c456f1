import type { IndexedChunk } from "../database/chunks.ts";

/** A chunk with its score. */
export interface Ranked {
  readonly chunk: IndexedChunk;
  readonly score: number;
}

/** Constant `k` of reciprocal rank fusion, as proposed by its authors. */
const RRF_DAMPING = 60;
/** Share of a score that does not depend on age. */
const AGELESS = 0.92;
const DAY_MS = 86_400_000;

/** Compares by score, then newest first. Remaining ties do not depend on the order of indexing. */
export function byScore(a: Ranked, b: Ranked): number {
  return b.score - a.score || (b.chunk.at ?? 0) - (a.chunk.at ?? 0) || byPlace(a.chunk, b.chunk);
}

function byPlace(a: IndexedChunk, b: IndexedChunk): number {
  return a.source === "turn" && b.source === "turn" ? b.n - a.n : a.id.localeCompare(b.id);
}

/** Merges lists by rank (reciprocal rank fusion), because scores of words and of vectors cannot be compared. */
export function fuseByRank(lists: readonly (readonly Ranked[])[]): readonly Ranked[] {
  const [only, ...others] = lists;
  if (only !== undefined && others.length === 0) return only;
  const fused = new Map<number, Ranked>();
  for (const list of lists) {
    for (const [rank, { chunk }] of list.entries()) {
      const previous = fused.get(chunk.n)?.score ?? 0;
      fused.set(chunk.n, { chunk, score: previous + 1 / (RRF_DAMPING + rank + 1) });
    }
  }
  return [...fused.values()].sort(byScore);
}

/**
 * Slightly lowers the scores of older chunks, so that the newer of two similar matches comes first. Age is relative to
 * the newest match. A chunk without a time counts as new.
 */
export function preferRecent(ranked: readonly Ranked[], halfLifeDays: number): Ranked[] {
  const newest = Math.max(...ranked.map(({ chunk }) => chunk.at ?? 0));
  return ranked
    .map(({ chunk, score }) => {
      const days = (newest - (chunk.at ?? newest)) / DAY_MS;
      return { chunk, score: score * (AGELESS + (1 - AGELESS) * 2 ** (-days / halfLifeDays)) };
    })
    .sort(byScore);
}

/** Drops chunks with the same text as an earlier chunk. */
export function withoutRepetitions(ranked: readonly Ranked[]): Ranked[] {
  const seen = new Set<string>();
  return ranked.filter(({ chunk: { hash } }) => !seen.has(hash) && seen.add(hash));
}
