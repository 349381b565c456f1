import type { IndexedChunk } from "../database/chunks.ts";

/** A chunk with what speaks for it. */
export interface Ranked {
  readonly chunk: IndexedChunk;
  readonly score: number;
}

/** Damps how much more the first places of a list count than later ones; 60 is what the method's authors found. */
const RRF_DAMPING = 60;
/** The part of a score that age cannot take away. */
const AGELESS = 0.92;
const DAY_MS = 86_400_000;

/** The best first; of what is equal the newer, and then always the same, in whatever order it was indexed. */
export function byScore(a: Ranked, b: Ranked): number {
  return b.score - a.score || (b.chunk.at ?? 0) - (a.chunk.at ?? 0) || byPlace(a.chunk, b.chunk);
}

function byPlace(a: IndexedChunk, b: IndexedChunk): number {
  return a.source === "turn" && b.source === "turn" ? b.n - a.n : a.id.localeCompare(b.id);
}

/** One list out of several by places alone, since scores of words and of vectors cannot be compared. */
export function fuseByRank(lists: readonly (readonly Ranked[])[]): readonly Ranked[] {
  const [only, ...others] = lists;
  if (only !== undefined && others.length === 0) return only;
  const fused = new Map<number, Ranked>();
  for (const list of lists) {
    for (const [place, { chunk }] of list.entries()) {
      const before = fused.get(chunk.n)?.score ?? 0;
      fused.set(chunk.n, { chunk, score: before + 1 / (RRF_DAMPING + place + 1) });
    }
  }
  return [...fused.values()].sort(byScore);
}

/**
 * Lets newer things come before older ones that say as much. What has no time is always new. Ages are counted from the
 * newest, so that what was all said long ago is still told apart.
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

export interface RankedWithTerms extends Ranked {
  readonly terms: ReadonlySet<string>;
}

/** How much a hit counts for itself, against what it repeats of those before it. */
const RELEVANCE = 0.5;

/**
 * Chooses `limit` hits, each time the one that is most relevant and says least of what was chosen already (maximal
 * marginal relevance). They keep their order: what is newer stays before what is older.
 */
export function diversify<C extends RankedWithTerms>(candidates: readonly C[], limit: number): C[] {
  const best = candidates[0]?.score ?? 1;
  const rest = candidates.map((candidate) => ({ candidate, repeats: 0 }));
  const chosen: C[] = [];
  while (chosen.length < limit && rest.length > 0) {
    const gains = rest.map(
      ({ candidate, repeats }) => (RELEVANCE * candidate.score) / best - (1 - RELEVANCE) * repeats,
    );
    const [next] = rest.splice(gains.indexOf(Math.max(...gains)), 1);
    if (next === undefined) break;
    chosen.push(next.candidate);
    for (const other of rest) {
      other.repeats = Math.max(other.repeats, likeness(other.candidate.terms, next.candidate.terms));
    }
  }
  return chosen.sort(byScore);
}

/** Shared terms over all terms, squared: what has a few words in common repeats next to nothing. */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let shared = 0;
  for (const term of a) if (b.has(term)) shared++;
  return (shared / (a.size + b.size - shared)) ** 2;
}
