import type { Chunk, ChunkInContext } from "../types.ts";
import { isOwners } from "./listeners.ts";

/**
 * Whether something of memory is not to be taken for an owner's word: it is marked, was said where others speak too, or
 * is a note of anybody else. Notes are the owners' where an owner's run wrote them, and mark what that run had read.
 */
export function isUntrusted({ untrusted, scope, note }: Chunk): boolean {
  return untrusted !== undefined || scope.kind === "chat" || (note !== undefined && !isOwners(scope));
}

/** The same, with what stands around it. */
export function holdsUntrusted({ before, after, ...chunk }: ChunkInContext): boolean {
  return [...before, chunk, ...after].some(isUntrusted);
}
