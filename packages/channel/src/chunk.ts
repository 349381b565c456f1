import type { TextCapability, TextUnit } from "./capabilities.ts";
import { normalizeLineEnds, utf8Length } from "./text.ts";

/**
 * Cuts a text into parts that the platform takes, none longer than `limit.max` in its unit. Cuts fall between
 * paragraphs where possible, else between lines, sentences, words; never inside a surrogate pair, nor inside what
 * people see as one character unless that alone is longer than a part. A fenced code block that is cut is closed and
 * opened again. Line ends become `\n`; blank lines and spaces at a cut are dropped, everything else is kept. A blank
 * text gives no part.
 *
 * @throws RangeError when `limit.max` is under 16, too short to hold a fence and its text
 */
export function chunkText(text: string, limit: Pick<TextCapability, "max" | "unit">): string[] {
  const { max = Number.POSITIVE_INFINITY, unit } = limit;
  if (max < 16) throw new RangeError(`A part of ${max} ${unit} is too short: at least 16.`);
  const parts: string[] = [];
  let rest = normalizeLineEnds(text)
    .replace(/^(?:[^\S\n]*\n)+/, "")
    .trimEnd();
  let open: Fence | undefined;
  while (rest !== "") {
    const cut = nextPart(rest, open, max, unit);
    if (cut.part !== undefined) parts.push(cut.part);
    rest = cut.rest;
    open = cut.open;
  }
  return parts;
}

interface Fence {
  /** The line that opens the block again in the next part. */
  readonly opening: string;
  /** The line that closes it. */
  readonly closing: string;
}

interface Cut {
  /** Absent where only blank lines came before the cut. */
  readonly part: string | undefined;
  readonly rest: string;
  readonly open: Fence | undefined;
}

function nextPart(rest: string, open: Fence | undefined, max: number, unit: TextUnit): Cut {
  const prefix = open === undefined ? "" : `${open.opening}\n`;
  let room = max - lengthUpTo(prefix, unit, max);
  if (reach(rest, room, unit) === rest.length) return { part: prefix + rest, rest: "", open: undefined };
  for (;;) {
    let end = cutAt(rest, Math.max(reach(rest, room, unit), firstCharacter(rest)));
    let after = fenceAfter(rest.slice(0, end), open, max);
    const lastLine = rest.lastIndexOf("\n", end - 1);
    if (after !== undefined && lastLine > 0 && readFence(rest.slice(lastLine + 1, end)) !== undefined) {
      // The cut would leave the opening line alone at the end of the part.
      const earlier = fenceAfter(rest.slice(0, lastLine), open, max);
      if (earlier === undefined) [end, after] = [lastLine, earlier];
    }
    const body = rest.slice(0, end).trimEnd();
    const part = prefix + body + (after === undefined ? "" : `\n${after.closing}`);
    const over = lengthUpTo(part, unit, Number.POSITIVE_INFINITY) - max;
    if (over > 0 && end > firstCharacter(rest)) {
      room -= over;
      continue;
    }
    const empty = body.trim() === "";
    return { part: empty ? undefined : part, ...remainder(rest.slice(end), after) };
  }
}

/** What is left after a cut, without the blanks at it. */
function remainder(tail: string, after: Fence | undefined): Omit<Cut, "part"> {
  if (after === undefined) return { rest: tail.replace(/^(?:[^\S\n]*\n)+|^[^\S\n]+/, ""), open: undefined };
  const rest = tail.replace(/^\n/, "");
  const lineEnd = rest.indexOf("\n");
  const line = lineEnd < 0 ? rest : rest.slice(0, lineEnd);
  // The part closes the block already: its own closing line would open another.
  if (closes(line, after)) return { rest: rest.slice(line.length).replace(/^\s*\n/, ""), open: undefined };
  return { rest, open: after };
}

/** Index after the longest start of `text` that fits, not inside a character as people see it. */
function reach(text: string, room: number, unit: TextUnit): number {
  let used = 0;
  let index = 0;
  while (index < text.length) {
    const codePoint = text.codePointAt(index) ?? 0;
    const width = codePoint > 0xffff ? 2 : 1;
    used += unit === "codepoints" ? 1 : unit === "utf16" ? width : utf8Length(codePoint);
    if (used > room) return characterStart(text, index);
    index += width;
  }
  return index;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** How far back to look for a place where characters certainly begin: longer than any emoji sequence in use. */
const lookBack = 200;

/** `index`, or the start of the character that it falls into. */
function characterStart(text: string, index: number): number {
  const from = Math.max(0, index - lookBack);
  const anchor = text.slice(from, index).search(/[\x20-\x7e\n](?!\p{M}|\u200d)/u);
  const start = from === 0 ? 0 : anchor < 0 ? wholePair(text, from) : from + anchor;
  const found = segmenter.segment(text.slice(start, index + lookBack)).containing(index - start);
  const boundary = start + (found?.index ?? index - start);
  return boundary > 0 ? boundary : index;
}

function wholePair(text: string, index: number): number {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff ? index - 1 : index;
}

function firstCharacter(text: string): number {
  return (text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1;
}

/** Where a cut may fall, best first. */
const places: readonly { readonly pattern: RegExp; readonly after: boolean }[] = [
  { pattern: /\n[^\S\n]*\n/g, after: false },
  { pattern: /\n/g, after: false },
  { pattern: /[。！？；…]+[”’」』）)]*|[.!?;]+["')\]]*(?=\s)/g, after: true },
  { pattern: /\s/g, after: false },
  { pattern: /[，、：]/g, after: true },
];

/** The best place to cut at or before `limit`: each kind of place counts only in the last half. */
function cutAt(text: string, limit: number): number {
  const from = Math.floor(limit / 2);
  const zone = text.slice(from, limit + 1);
  for (const { pattern, after } of places) {
    let best = 0;
    for (const match of zone.matchAll(pattern)) {
      const at = from + match.index + (after ? match[0].length : 0);
      if (at <= limit) best = at;
    }
    if (best > 0) return outsideFenceLine(text, best);
  }
  return outsideFenceLine(text, limit);
}

/** Moves a cut within a line that opens or closes a block to before that line. */
function outsideFenceLine(text: string, at: number): number {
  const lineStart = text.lastIndexOf("\n", at - 1) + 1;
  const within = at > lineStart && text[at] !== "\n";
  return within && lineStart > 1 && /^\s*(?:`{3}|~{3})/.test(text.slice(lineStart, at + 3))
    ? lineStart - 1
    : at;
}

function readFence(line: string): { indent: string; marker: string; info: string } | undefined {
  const [, indent, marker, info] = /^(\s*)(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  if (indent === undefined || marker === undefined || info === undefined) return undefined;
  return marker.startsWith("`") && info.includes("`") ? undefined : { indent, marker, info: info.trim() };
}

function closes(line: string, open: Fence): boolean {
  const fence = readFence(line);
  return fence !== undefined && fence.info === "" && fence.marker.startsWith(open.closing.trim());
}

/** The block that is open after `text`, where `open` was before it. */
function fenceAfter(text: string, open: Fence | undefined, max: number): Fence | undefined {
  let now = open;
  let first = true;
  for (const line of text.split("\n")) {
    // The first line of a part may be the middle of one.
    const fence = first && open !== undefined ? undefined : readFence(line);
    if (now === undefined) {
      if (fence !== undefined) now = reopening(fence, max);
    } else if (closes(line, now)) now = undefined;
    first = false;
  }
  return now;
}

/** What a fence costs in each part has bounds: a long info string is dropped, and an absurd fence is no fence. */
function reopening(fence: { indent: string; marker: string; info: string }, max: number): Fence | undefined {
  const indent = fence.indent.length * 8 > max ? "" : fence.indent;
  const closing = indent + fence.marker;
  if (closing.length * 4 > max) return undefined;
  const opening = closing + fence.info;
  return { opening: lengthUpTo(opening, "bytes", max) * 3 > max ? closing : opening, closing };
}

/** The length, or any number above `stop` once it is longer than that. */
function lengthUpTo(text: string, unit: TextUnit, stop: number): number {
  if (unit === "utf16") return text.length;
  let length = 0;
  for (const character of text) {
    length += unit === "codepoints" ? 1 : utf8Length(character.codePointAt(0) ?? 0);
    if (length > stop) break;
  }
  return length;
}
