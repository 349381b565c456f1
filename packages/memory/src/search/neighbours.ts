import { type Key, opens } from "../access.ts";
import type { ChunkTable, IndexedChunk } from "../database/chunks.ts";

/** Returns the neighbours of a chunk that the key opens. */
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
