import type { Author } from "../types.ts";
import { isAuthor, isOptionalString, isRecord } from "../validate.ts";

/** The origin of a note's entry. It is written after the entry as an HTML comment, which Markdown does not render. */
export interface Provenance {
  readonly author?: Author;
  readonly chat?: string;
  readonly message?: string;
  /** Milliseconds since the epoch. */
  readonly at?: number;
  /** The source of untrusted content in the entry. */
  readonly untrusted?: string;
  /** Hashes of the texts from which the entry was derived. */
  readonly from?: readonly string[];
}

const OPENING = "<!-- memory ";
const CLOSING = " -->";

/** Appends the provenance to the first line of an entry. */
export function encodeProvenance(entry: string, provenance: Provenance): string {
  const [first = "", ...others] = entry.split("\n");
  // A comment ends at the first `-->`, even inside a JSON string.
  const json = JSON.stringify(provenance).replaceAll("-", "\\u002d").replaceAll(">", "\\u003e");
  return [`${first} ${OPENING}${json}${CLOSING}`, ...others].join("\n");
}

/** Splits a line into text and provenance. An invalid comment remains part of the text. */
export function decodeProvenance(line: string): { text: string; provenance: Provenance | undefined } {
  const trimmed = line.trimEnd();
  const start = trimmed.lastIndexOf(OPENING);
  if (start < 0 || !trimmed.endsWith(CLOSING)) return { text: line, provenance: undefined };
  const provenance = parseJson(trimmed.slice(start + OPENING.length, -CLOSING.length));
  return isProvenance(provenance)
    ? { text: line.slice(0, start).trimEnd(), provenance }
    : { text: line, provenance: undefined };
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Notes are edited by hand, and one value that the index rejects would make all notes unsearchable. */
function isProvenance(value: unknown): value is Provenance {
  if (!isRecord(value)) return false;
  const { author, chat, message, at, untrusted, from } = value;
  return (
    [chat, message, untrusted].every(isOptionalString) &&
    (author === undefined || isAuthor(author)) &&
    (at === undefined || (Number.isInteger(at) && !Number.isNaN(new Date(Number(at)).getTime()))) &&
    (from === undefined || (Array.isArray(from) && from.every((hash) => typeof hash === "string")))
  );
}

/** Puts an entry on one line, so that its text cannot become a provenance comment or a separate line. */
export function entryText(text: string): string {
  return text.trim().replace(/\s+/g, " ").replaceAll("<!--", "&lt;!--");
}
