/**
 * Limits for texts that take long to parse. Some syntax takes quadratic time: 14,000 characters of `_www.` block the
 * event loop for seconds, and anyone in a chat can make a model write that. The limits are above anything that people
 * and models normally write, and keep parsing below a few tens of milliseconds.
 */

/** Maximum length in UTF-16 code units. */
const MAX_LENGTH = 100_000;
/** Maximum number of paragraphs, headings, list items, table rows and fences. */
const MAX_BLOCKS = 600;
const MAX_LINES = 1_500;
/** Maximum number of cells in all tables together. */
const MAX_CELLS = 1_500;
/** Maximum number of lines in quotes and lists, each counted once per level. */
const MAX_NESTED_LINES = 2_000;
/** Maximum number of consecutive quote and list markers. */
const MAX_NESTING = 16;
/** Maximum number of lines that could turn the previous line into a heading. */
const MAX_UNDERLINES = 200;
/** Maximum number of brackets, stars and similar characters in one paragraph. */
const MAX_MARKS_PER_PARAGRAPH = 500;
const MAX_MARKS = 2_500;

const MARKS = /[[\]~*_<@:]/g;
const BLOCK_START = /(?:^|\n)[ \t]*(?:\n[ \t]*(?=\S)|(?=[-+*>|#]|\d{1,9}[.)]|`{3}|~{3}))/g;
const UNDERLINE = /^ {0,3}(?:-+|=+)[ \t]*$/gm;
/** The start of a paragraph, a list item or a table row. */
const PARAGRAPH_START = /\n(?=[ \t]*(?:\n|[-+*>|]|\d{1,9}[.)]))/;

/** Returns true if a text would take too long to parse. */
export function isTooComplex(text: string): boolean {
  if (text.length <= MAX_MARKS_PER_PARAGRAPH) return hasTooManyContainers(text);
  return (
    text.length > MAX_LENGTH ||
    count(text, BLOCK_START) > MAX_BLOCKS ||
    count(text, /\n/g) > MAX_LINES ||
    count(text, /\|/g) > MAX_CELLS ||
    count(text, UNDERLINE) > MAX_UNDERLINES ||
    count(text, MARKS) > MAX_MARKS ||
    text.split(PARAGRAPH_START).some((paragraph) => count(paragraph, MARKS) > MAX_MARKS_PER_PARAGRAPH) ||
    hasTooManyContainers(text)
  );
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

const CONTAINERS = /^(?:[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])))+/;
const MARKER = />|[-+*]|\d{1,9}[.)]/g;

/** A line without markers continues the quotes and list items of the previous line. */
function hasTooManyContainers(text: string): boolean {
  let nested = 0;
  let depth = 0;
  for (const line of text.split("\n")) {
    const markers = CONTAINERS.exec(line)?.[0].match(MARKER)?.length ?? 0;
    if (markers > MAX_NESTING) return true;
    if (markers > 0) depth = markers + Math.floor((line.length - line.trimStart().length) / 2);
    else if (line.trim() === "") depth = 0;
    nested += depth;
    if (nested > MAX_NESTED_LINES) return true;
  }
  return false;
}
