import { nearMatch } from "./near-match.ts";
import { count } from "./text.ts";

/** An exact text and what takes its place, as a model writes it. */
export interface Replacement {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

/** A text after its replacements, or why there is none. */
export type Replaced =
  | { readonly text: string; readonly lines: number; readonly replaced: number; readonly firstLine: number }
  | { readonly problem: string };

/** Applies replacements one after the other to the whole text, or none. */
export function replaceAll(original: string, edits: readonly Replacement[]): Replaced {
  const crlf = original.includes("\r\n") && !/(^|[^\r])\n/.test(original);
  const withLineEndings = (text: string): string => (crlf ? text.replace(/\r?\n/g, "\r\n") : text);
  let text = original;
  let lines = 0;
  let replaced = 0;
  let firstLine = Number.POSITIVE_INFINITY;
  for (const [i, edit] of edits.entries()) {
    const which = edits.length === 1 ? "" : `edit ${i + 1}: `;
    const from = withLineEndings(edit.old_string);
    const to = withLineEndings(edit.new_string);
    if (from === to) return { problem: `${which}old and new text are the same.` };
    const places = occurrences(text, from);
    if (places.length === 0) return { problem: `${which}${notFound(text, from)}` };
    if (places.length > 1 && edit.replace_all !== true) {
      const where = places.slice(0, 10).map((at) => count(lineAt(text, at)));
      return {
        problem: `${which}the old text occurs ${count(places.length)} times (lines ${where.join(", ")}${places.length > 10 ? ", …" : ""}). Include more of what surrounds it, or set replace_all.`,
      };
    }
    firstLine = Math.min(firstLine, lineAt(text, places[0] ?? 0));
    lines += places.length * Math.max(lineCount(from), lineCount(to));
    replaced += places.length;
    text = text.split(from).join(to);
  }
  return { text, lines, replaced, firstLine };
}

function notFound(text: string, wanted: string): string {
  const near = nearMatch(text, wanted);
  if (near === undefined) return "the old text does not occur. Read the file and copy the text exactly.";
  const where =
    near.from === near.to
      ? `line ${count(near.from)}`
      : `the block of lines ${count(near.from)} to ${count(near.to)}`;
  const how = near.kind === "white-space" ? "matches but for white space" : "comes nearest";
  return `the old text does not occur exactly. In the file, ${where} ${how}:\n${near.text}`;
}

function occurrences(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i >= 0 && i < at; i = text.indexOf("\n", i + 1)) line += 1;
  return line;
}

/** Lines a text touches; a final line end opens no further line. */
function lineCount(text: string): number {
  if (text === "") return 0;
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
