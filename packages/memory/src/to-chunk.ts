import type { NewChunk } from "./database/chunks.ts";
import { hashOf } from "./hash.ts";
import { partId, scopeOfPath, timeOfPath } from "./notes/folder.ts";
import { sectionsOf } from "./notes/sections.ts";
import type { Author, NewTurn, Scope, Turn } from "./types.ts";

/** The chunks of a file of notes. `otherwise` is the scope of notes at the top of the folder. */
export function chunksOfNote(path: string, markdown: string, otherwise: Scope): NewChunk[] {
  const day = timeOfPath(path);
  return sectionsOf(markdown).map(({ text, headings, lines, provenance }) => {
    const { author, chat, message, untrusted } = provenance;
    const at = provenance.at ?? day;
    return {
      id: partId(path, lines[0]),
      source: "note",
      text,
      hash: hashOf(text),
      scope: scopeOfPath(path, otherwise),
      note: { path, headings, lines },
      ...(at === undefined ? {} : { at }),
      ...(author === undefined ? {} : { author }),
      ...(chat === undefined ? {} : { chat }),
      ...(message === undefined ? {} : { message }),
      ...(untrusted === undefined ? {} : { untrusted }),
    };
  });
}

export function chunkOfTurn(turn: Turn): NewChunk {
  return { ...turn, source: "turn", message: turn.id, hash: hashOf(turn.text) };
}

/** A turn with everything filled in. */
export function toTurn(given: NewTurn, now: number, newId: () => string): Turn {
  const { text, id = newId(), author, at = now, chat = "", scope = { kind: "everyone" }, untrusted } = given;
  const time = new Date(at).getTime();
  if (Number.isNaN(time)) throw new TypeError(`The time of a turn cannot be read: ${String(at)}`);
  return {
    id,
    text,
    chat,
    scope,
    at: time,
    ...(author === undefined ? {} : { author: toAuthor(author) }),
    ...(untrusted === undefined ? {} : { untrusted }),
  };
}

export function toAuthor(author: string | Author): Author {
  return typeof author === "string" ? { id: author } : author;
}
