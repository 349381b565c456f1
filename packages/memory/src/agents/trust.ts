import type { Chunk, ChunkInContext } from "../types.ts";
import { isOwners } from "./listeners.ts";

/**
 * Whether a memory does not count as an owner's own words: it is marked, was said where others speak too, or is someone
 * else's note. Notes are the owners' if an owner's run wrote them, and are marked with what that run had read.
 */
export function isUntrusted({ untrusted, scope, note }: Chunk): boolean {
  return untrusted !== undefined || scope.kind === "chat" || (note !== undefined && !isOwners(scope));
}

/** The same, with what stands around it. */
export function holdsUntrusted({ before, after, ...chunk }: ChunkInContext): boolean {
  return [...before, chunk, ...after].some(isUntrusted);
}
