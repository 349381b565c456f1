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
  const json = written.slice(start + OPENING.length, -CLOSING.length);
  if (!json.startsWith("{")) return { text: line, provenance: undefined };
  try {
    const provenance: Provenance = JSON.parse(json);
    return { text: line.slice(0, start).trimEnd(), provenance };
  } catch {
    return { text: line, provenance: undefined };
  }
}

/** Text of an entry on one line, so that nothing in it is taken for a comment of ours or stands outside the entry. */
export function entryText(text: string): string {
  return text.trim().replace(/\s+/g, " ").replaceAll("<!--", "&lt;!--");
}
