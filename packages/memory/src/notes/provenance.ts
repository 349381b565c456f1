import type { Author } from "../types.ts";

/** Where an entry of a note comes from. It stands behind the entry, as a comment that Markdown does not show. */
export interface Provenance {
  readonly author?: Author;
  readonly chat?: string;
  readonly message?: string;
  /** Milliseconds. */
  readonly at?: number;
  /** Where untrusted content in it came from. */
  readonly untrusted?: string;
  /** Ids of the chunks that it was drawn from. */
  readonly from?: readonly string[];
}

const OPENING = "<!-- memory ";
const CLOSING = " -->";

/** Adds the provenance to the first line of an entry. */
export function encodeProvenance(entry: string, provenance: Provenance): string {
  const [first = "", ...others] = entry.split("\n");
  // A comment ends at the first `-->`, whatever stands before it.
  const json = JSON.stringify(provenance).replaceAll("-", "\\u002d").replaceAll(">", "\\u003e");
  return [`${first} ${OPENING}${json}${CLOSING}`, ...others].join("\n");
}

/** A line without its comment. A comment that cannot be read stays a part of the text. */
export function decodeProvenance(line: string): { text: string; provenance: Provenance | undefined } {
  const written = line.trimEnd();
  const start = written.lastIndexOf(OPENING);
  if (start < 0 || !written.endsWith(CLOSING)) return { text: line, provenance: undefined };
  const provenance = parsed(written.slice(start + OPENING.length, -CLOSING.length));
  return isProvenance(provenance)
    ? { text: line.slice(0, start).trimEnd(), provenance }
    : { text: line, provenance: undefined };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Notes are edited by hand: what the index could not keep would keep everything else from being found. */
function isProvenance(value: unknown): value is Provenance {
  if (!isRecord(value)) return false;
  const { author, chat, message, at, untrusted, from } = value;
  return (
    [chat, message, untrusted].every(isAbsentOrText) &&
    (author === undefined || isAuthor(author)) &&
    (at === undefined || (Number.isInteger(at) && !Number.isNaN(new Date(Number(at)).getTime()))) &&
    (from === undefined || (Array.isArray(from) && from.every((hash) => typeof hash === "string")))
  );
}

type ReadRecord = Readonly<Partial<Record<keyof Provenance | keyof Author, unknown>>>;

function isRecord(value: unknown): value is ReadRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isAuthor(value: unknown): boolean {
  return isRecord(value) && typeof value.id === "string" && isAbsentOrText(value.name);
}

function isAbsentOrText(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

/** Text of an entry on one line, so that nothing in it is taken for a comment of ours or stands outside the entry. */
export function entryText(text: string): string {
  return text.trim().replace(/\s+/g, " ").replaceAll("<!--", "&lt;!--");
}
