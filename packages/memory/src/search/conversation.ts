import { type Key, opens } from "../access.ts";
import type { ChunkTable, IndexedChunk } from "../database/chunks.ts";
import { terms } from "../text/terms.ts";
import { byScore, type Ranked } from "./ranking.ts";

/**
 * Share of its score that a turn adds to the next one, which may answer it. The one after that gets a share of that
 * share.
 */
const SHARE_AFTER = 0.6;
/** Share of its score that a turn adds to the previous one, which it may answer. */
const SHARE_BEFORE = 0.4;
/** Number of turns on each side that get a share. */
const REACH = 3;
/** Maximum length in UTF-8 bytes. Longer texts are passages and not turns of a conversation, so they share nothing. */
const MAX_TURN_BYTES = 400;
/**
 * Score factor for turns of a person named in the query, because they are most likely to state a fact about themselves.
 */
const NAMED_WEIGHT = 1.6;

export interface ConversationQuery {
  readonly chunks: Pick<ChunkTable, "beside" | "byNumber">;
  readonly key: Key;
  readonly terms: ReadonlySet<string>;
}

/**
 * Reorders matches in conversations. Often one turn contains the words of a question and the next one the answer, so
 * each matching turn adds a share of its score to its neighbors, including those without a match. This helps when
 * people alternate, but less if one person sends several messages in a row.
 */
export function rankAsConversation(
  matches: readonly Ranked[],
  { chunks, key, terms: asked }: ConversationQuery,
): Ranked[] {
  const shares = new Map<number, number>();
  const share = (neighbours: readonly number[], part: number, score: number) => {
    for (const [distance, n] of neighbours.entries())
      shares.set(n, (shares.get(n) ?? 0) + score * part ** (distance + 1));
  };
  for (const { chunk, score } of matches) {
    if (chunk.source !== "turn" || Buffer.byteLength(chunk.text) > MAX_TURN_BYTES) continue;
    share(chunks.beside(chunk, "after", REACH), SHARE_AFTER, score);
    share(chunks.beside(chunk, "before", REACH), SHARE_BEFORE, score);
  }
  const matched = new Set(matches.map(({ chunk }) => chunk.n));
  const neighbours = chunks
    .byNumber([...shares.keys()].filter((n) => !matched.has(n)))
    .filter((chunk) => opens(key, chunk))
    .map((chunk) => ({ chunk, score: 0 }));
  return [...matches, ...neighbours]
    .map(({ chunk, score }) => ({
      chunk,
      score: (score + (shares.get(chunk.n) ?? 0)) * (isNamed(chunk, asked) ? NAMED_WEIGHT : 1),
    }))
    .sort(byScore);
}

function isNamed({ source, author }: IndexedChunk, asked: ReadonlySet<string>): boolean {
  return source === "turn" && terms(author?.name ?? "").some((term) => asked.has(term));
}
