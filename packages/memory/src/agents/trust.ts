import type { Chunk, ChunkInContext } from "../types.ts";
import { isOwners } from "./session-access.ts";

/**
 * Returns true if a chunk does not count as an owner's own words: it is marked as untrusted, comes from a group, or is
 * another person's note. The owners' notes were written in an owner's run and are marked with the untrusted sources
 * that the run had read.
 */
export function isUntrusted({ untrusted, scope, note }: Chunk): boolean {
  return untrusted !== undefined || scope.kind === "chat" || (note !== undefined && !isOwners(scope));
}

/** Returns true if a chunk or one of its neighbours is untrusted. */
export function containsUntrusted({ before, after, ...chunk }: ChunkInContext): boolean {
  return [...before, chunk, ...after].some(isUntrusted);
}
