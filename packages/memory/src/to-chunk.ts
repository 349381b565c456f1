import type { NewChunk } from "./database/chunks.ts";
import { hashOf } from "./hash.ts";
import { partId, scopeOfPath, timeOfPath } from "./notes/folder.ts";
import { sectionsOf } from "./notes/sections.ts";
import type { Scope, Turn } from "./types.ts";

/**
 * Splits a note file into chunks.
 *
 * @param topScope the scope of notes at the top of the folder
 */
export function chunksOfNote(path: string, markdown: string, topScope: Scope): NewChunk[] {
  const day = timeOfPath(path);
  return sectionsOf(markdown).map(({ text, headings, lines, provenance }) => ({
    id: partId(path, lines[0]),
    source: "note",
    text,
    hash: hashOf(text),
    at: provenance.at ?? day,
    scope: scopeOfPath(path, topScope),
    author: provenance.author,
    chat: provenance.chat,
    message: provenance.message,
    untrusted: provenance.untrusted,
    note: { path, headings, lines },
  }));
}

export function chunkOfTurn(turn: Turn): NewChunk {
  return { ...turn, source: "turn", message: turn.id, hash: hashOf(turn.text) };
}
