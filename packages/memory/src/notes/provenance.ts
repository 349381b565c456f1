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

const COMMENT = /\s*<!-- memory (\{.*?\}) -->\s*$/;

/** Adds the provenance to the first line of an entry. */
export function encodeProvenance(entry: string, provenance: Provenance): string {
  const [first = "", ...others] = entry.split("\n");
  // A comment ends at the first `-->`, whatever stands before it.
  const json = JSON.stringify(provenance).replaceAll("-", "\\u002d").replaceAll(">", "\\u003e");
  return [`${first} <!-- memory ${json} -->`, ...others].join("\n");
}

/** A line without its comment. A comment that cannot be read stays a part of the text. */
export function decodeProvenance(line: string): { text: string; provenance: Provenance | undefined } {
  const comment = COMMENT.exec(line);
  if (comment === null) return { text: line, provenance: undefined };
  try {
    const provenance: Provenance = JSON.parse(comment[1] ?? "");
    return { text: line.slice(0, comment.index), provenance };
  } catch {
    return { text: line, provenance: undefined };
  }
}

/** Text of an entry, so that nothing in it is taken for a comment of ours or ends the entry. */
export function entryText(text: string): string {
  return text.trim().replaceAll("<!--", "&lt;!--").split(/\r?\n/).join("\n  ");
}

/** A note as a reader wants it: of where entries come from only that somebody else wrote them. */
export function withoutProvenance(markdown: string): { readonly text: string; readonly untrusted: boolean } {
  const lines = markdown.split("\n").map(decodeProvenance);
  const isUntrusted = ({ provenance }: (typeof lines)[number]) => provenance?.untrusted !== undefined;
  const text = lines.map((line) => (isUntrusted(line) ? `${line.text} (untrusted)` : line.text)).join("\n");
  return { text: text.trim(), untrusted: lines.some(isUntrusted) };
}
