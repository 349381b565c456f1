/**
 * What makes a text slow to read as Markdown, found in one pass over it. Each limit is more than people and models
 * write, and keeps the reading to some tens of milliseconds.
 */

/** UTF-16 units of one text: longer ones are no message, and are cut like prose. */
const LONGEST = 100_000;
/** Blocks of one text: paragraphs, headings, items, rows, fences. */
const MOST_BLOCKS = 600;
const MOST_LINES = 1_500;
/** Cells of all tables. */
const MOST_CELLS = 1_500;
/** Lines of quotes and lists, each counted as often as it is nested. */
const MOST_NESTED_LINES = 2_000;
/** Markers of quotes and lists in a row. */
const MOST_NESTED = 16;
/** Lines that may make a heading of the line before. */
const MOST_UNDERLINES = 200;
/** Brackets, stars and the like of one paragraph: they cost as much as their number squared. */
const MOST_MARKS = 500;
/** The same of the whole text. */
const MOST_MARKS_AT_ALL = 2_500;
const MARKS = /[[\]~*_<@:]/g;

const BLOCK_START = /(?:^|\n)[ \t]*(?:\n[ \t]*(?=\S)|(?=[-+*>|#]|\d{1,9}[.)]|`{3}|~{3}))/g;

export function hasTooManyBlocks(text: string): boolean {
  if (text.length <= MOST_BLOCKS) return false;
  return (
    text.length > LONGEST ||
    count(text, BLOCK_START) > MOST_BLOCKS ||
    count(text, /\n/g) > MOST_LINES ||
    count(text, /\|/g) > MOST_CELLS
  );
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

const CONTAINERS = /^(?:[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])))+/;
const MARKER = />|[-+*]|\d{1,9}[.)]/g;

/** A line without markers of its own goes on with the quotes and items of the line before. */
export function hasTooManyContainers(text: string): boolean {
  let nested = 0;
  let depth = 0;
  for (const line of text.split("\n")) {
    const markers = CONTAINERS.exec(line)?.[0].match(MARKER)?.length ?? 0;
    if (markers > MOST_NESTED) return true;
    if (markers > 0) depth = markers + Math.floor(indentOf(line) / 2);
    else if (line.trim() === "") depth = 0;
    nested += depth;
    if (nested > MOST_NESTED_LINES) return true;
  }
  return false;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

export function hasTooManyUnderlines(text: string): boolean {
  return count(text, /^ {0,3}(?:-+|=+)[ \t]*$/gm) > MOST_UNDERLINES;
}

/** Where a paragraph, an item or a row may begin. */
const PARAGRAPH_START = /\n(?=[ \t]*(?:\n|[-+*>|]|\d{1,9}[.)]))/;

export function hasTooManyMarks(text: string): boolean {
  if (text.length <= MOST_MARKS) return false;
  if (count(text, MARKS) > MOST_MARKS_AT_ALL) return true;
  return text.split(PARAGRAPH_START).some((block) => count(block, MARKS) > MOST_MARKS);
}
