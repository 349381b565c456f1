import { type Key, opens } from "../access.ts";
import type { ChunkTable, IndexedChunk } from "../database/chunks.ts";
import { terms } from "../text/terms.ts";
import { byScore, type Ranked } from "./ranking.ts";

/** The part of its score that a turn lends to those after it, the next one first: they may answer it. */
const LENT_AFTER = [0.6, 0.35, 0.2];
/** And to those before, which it may answer. */
const LENT_BEFORE = [0.4, 0.2];
/** Only the best have something to lend. */
const LENDERS = 24;
/** What is longer than people speak at a time stands by itself. In bytes, of which a Chinese character takes three. */
const PASSAGE_BYTES = 400;
/** A turn that only asks has the words that are asked for, and tells nothing. */
const ASKING = 0.6;
/** Who is named in a question has mostly said the answer. */
const NAMED = 1.6;

const ENDS_ASKING = /[?？]\s*$/;
const TELLS_FIRST = /[.!。！].{12}/s;

export interface ConversationQuery {
  readonly chunks: Pick<ChunkTable, "beside" | "byNumber">;
  readonly key: Key;
  readonly terms: ReadonlySet<string>;
}

/**
 * A turn is understood by those around it: one has the words that are asked for, another the fact. So the turns that
 * match lend weight to their neighbours, also to those that match nothing themselves.
 */
export function rankAsConversation(
  matches: readonly Ranked[],
  { chunks, key, terms: asked }: ConversationQuery,
): Ranked[] {
  const lent = new Map<number, number>();
  const lend = (neighbours: readonly number[], shares: readonly number[], score: number) => {
    for (const [place, n] of neighbours.entries())
      lent.set(n, (lent.get(n) ?? 0) + score * (shares[place] ?? 0));
  };
  for (const { chunk, score } of matches.slice(0, LENDERS)) {
    if (chunk.source !== "turn" || Buffer.byteLength(chunk.text) > PASSAGE_BYTES) continue;
    lend(chunks.beside(chunk, "after", LENT_AFTER.length), LENT_AFTER, score);
    lend(chunks.beside(chunk, "before", LENT_BEFORE.length), LENT_BEFORE, score);
  }
  const matched = new Set(matches.map(({ chunk }) => chunk.n));
  const others = chunks
    .byNumber([...lent.keys()].filter((n) => !matched.has(n)))
    .filter((chunk) => opens(key, chunk))
    .map((chunk) => ({ chunk, score: 0 }));
  return [...matches, ...others]
    .map(({ chunk, score }) => ({
      chunk,
      score: (score + (lent.get(chunk.n) ?? 0)) * weightOf(chunk, asked),
    }))
    .sort(byScore);
}

function weightOf(chunk: IndexedChunk, asked: ReadonlySet<string>): number {
  if (chunk.source !== "turn") return 1;
  const named = terms(chunk.author?.name ?? chunk.author?.id ?? "").some((term) => asked.has(term));
  const text = chunk.text.trim();
  const asking = ENDS_ASKING.test(text) && !TELLS_FIRST.test(text);
  return (named ? NAMED : 1) * (asking ? ASKING : 1);
}
