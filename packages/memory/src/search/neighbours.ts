import { type Key, opens } from "../access.ts";
import type { ChunkTable, IndexedChunk } from "../database/chunks.ts";

/** Returns the neighbors of a chunk that are visible to the key. */
export function neighboursOf(
  chunk: IndexedChunk,
  chunks: Pick<ChunkTable, "beside" | "byNumber">,
  key: Key,
  count: number,
): { before: IndexedChunk[]; after: IndexedChunk[] } {
  if (count === 0) return { before: [], after: [] };
  const visible = (side: "before" | "after") =>
    chunks.byNumber(chunks.beside(chunk, side, count)).filter((neighbour) => opens(key, neighbour));
  return { before: visible("before").reverse(), after: visible("after") };
}
