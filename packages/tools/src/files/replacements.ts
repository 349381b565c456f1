import { indexOfLinear } from "../linear-search.ts";
import { findNearMatch } from "./near-match.ts";
import { formatCount } from "./text.ts";

/** An exact text and its replacement, as a model writes them. */
export interface Replacement {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

/** A text after its replacements, or the reason why they failed. */
export type ReplacementResult =
  | { readonly text: string; readonly lines: number; readonly replaced: number; readonly firstLine: number }
  | { readonly problem: string };

/**
 * Maximum length of the result in UTF-16 units. A few replacements of all occurrences can multiply the size of a text.
 */
const MAX_RESULT_CHARS = 10_000_000;

/** Applies all replacements in order, or none if one fails. */
export function replaceAll(original: string, edits: readonly Replacement[]): ReplacementResult {
  const areCrlf = areLinesCrlf(original);
  let text = original;
  let lines = 0;
  let replaced = 0;
  let firstLine = Number.POSITIVE_INFINITY;
  for (const [i, edit] of edits.entries()) {
    const which = edits.length === 1 ? "" : `edit ${i + 1}: `;
    const wanted = areCrlf ? withCrlf(edit) : edit;
    const result = applyReplacement(text, wanted) ?? { problem: describeNotFound(text, wanted.old_string) };
    if ("problem" in result) return { problem: `${which}${result.problem}` };
    text = result.text;
    lines += result.lines;
    replaced += result.replaced;
    firstLine = Math.min(firstLine, result.firstLine);
  }
  return { text, lines, replaced, firstLine };
}

/** Applies one replacement. Returns undefined if the old text does not occur, because explaining that may take long. */
export function replaceIfFound(text: string, edit: Replacement): ReplacementResult | undefined {
  return applyReplacement(text, areLinesCrlf(text) ? withCrlf(edit) : edit);
}

function applyReplacement(text: string, edit: Replacement): ReplacementResult | undefined {
  const { old_string: from, new_string: to, replace_all: isForAll = false } = edit;
  if (from === to) return { problem: "the old and new text are the same." };
  const places = findOccurrences(text, from);
  const [first] = places;
  if (first === undefined) return undefined;
  if (places.length > 1 && !isForAll) {
    const where = places.slice(0, 10).map((at) => formatCount(getLineAt(text, at)));
    return {
      problem: `the old text occurs ${formatCount(places.length)} times (lines ${where.join(", ")}${places.length > 10 ? ", …" : ""}). Include more of the surrounding text, or set replace_all.`,
    };
  }
  const length = text.length + places.length * (to.length - from.length);
  if (length > MAX_RESULT_CHARS)
    return {
      problem: `the result would have ${formatCount(length)} characters, more than ${formatCount(MAX_RESULT_CHARS)}.`,
    };
  return {
    text: replaceAt(text, places, from.length, to),
    lines: places.length * Math.max(countLines(from), countLines(to)),
    replaced: places.length,
    firstLine: getLineAt(text, first),
  };
}

function areLinesCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
}

/** Converts line feeds, which models write, to CRLF. */
function withCrlf(edit: Replacement): Replacement {
  const inCrlf = (part: string): string => part.replace(/\r?\n/g, "\r\n");
  return { ...edit, old_string: inCrlf(edit.old_string), new_string: inCrlf(edit.new_string) };
}

function replaceAt(text: string, places: readonly number[], length: number, to: string): string {
  let result = "";
  let end = 0;
  for (const at of places) {
    result += text.slice(end, at) + to;
    end = at + length;
  }
  return result + text.slice(end);
}

function describeNotFound(text: string, wanted: string): string {
  const near = findNearMatch(text, wanted);
  if (near === undefined) return "the old text does not occur. Read the file and copy the text exactly.";
  const where =
    near.from === near.to
      ? `line ${formatCount(near.from)}`
      : `the block of lines ${formatCount(near.from)} to ${formatCount(near.to)}`;
  const how = near.kind === "white_space" ? "matches except for white space" : "is closest";
  return `the old text does not occur exactly. In the file, ${where} ${how}:\n${near.text}`;
}

function findOccurrences(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = indexOfLinear(text, wanted); at >= 0; at = indexOfLinear(text, wanted, at + wanted.length))
    places.push(at);
  return places;
}

function getLineAt(text: string, at: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i >= 0 && i < at; i = text.indexOf("\n", i + 1)) line += 1;
  return line;
}

/** Counts lines. A final line break does not start another line. */
function countLines(text: string): number {
  if (text === "") return 0;
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
