/**
 * Matches characters that are invisible or change the order of a text: format characters (direction marks, joiners,
 * tags), control characters except line breaks and tabs, blank letters and spaces, variation selectors, and lone
 * surrogates.
 */
const INVISIBLE =
  /(?![\n\t ])(?:[\p{Cf}\p{Cc}\p{Cs}\p{Co}\p{Z}\u2800\u3164\uFFA0]|\p{Default_Ignorable_Code_Point})/gu;

/** Escapes invisible or misleading characters, for example as `\u{202e}`. Keeps line breaks and tabs. */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Like {@link escapeInvisible}, but also escapes line breaks and tabs. */
export function escapeLine(text: string): string {
  return escapeInvisible(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** Formats a string as inline code in Markdown, on one line. No character in the string can end the code span. */
export function formatCodeSpan(text: string): string {
  const line = escapeLine(text);
  const ticks = createFence(line, 0);
  const pad = /^`|`$|^$/.test(line) ? " " : "";
  return `${ticks}${pad}${line}${pad}${ticks}`;
}

/** Formats a string as a fenced code block in Markdown. No line in the string can end the block. */
export function formatCodeBlock(text: string): string {
  const fence = createFence(text, 2);
  return `${fence}\n${escapeInvisible(text)}\n${fence}`;
}

/**
 * Returns a fence that is one backtick longer than the longest sequence of backticks in the string, and longer than
 * `least`.
 */
function createFence(text: string, least: number): string {
  const runs = text.match(/`+/g) ?? [];
  return "`".repeat(runs.reduce((most, { length }) => Math.max(most, length), least) + 1);
}
