/**
 * Characters that are invisible or change the order of the text: format characters (direction marks, joiners, tags),
 * control characters except line breaks and tabs, blank letters and spaces, variation selectors, and lone surrogates.
 */
const UNSEEN =
  /(?![\n\t ])(?:[\p{Cf}\p{Cc}\p{Cs}\p{Co}\p{Z}\u2800\u3164\uFFA0]|\p{Default_Ignorable_Code_Point})/gu;

/** Escapes characters that are invisible or misleading, for example as `\u{202e}`. Keeps line breaks and tabs. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Escapes like {@link visibleText}, and line breaks and tabs as well. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** Formats a text as inline code in Markdown, on one line. No character of the text ends the code. */
export function codeSpan(text: string): string {
  const line = visibleLine(text);
  const ticks = createFence(line, 0);
  const pad = /^`|`$|^$/.test(line) ? " " : "";
  return `${ticks}${pad}${line}${pad}${ticks}`;
}

/** Formats a text as a fenced code block in Markdown. No line of the text ends the block. */
export function codeBlock(text: string): string {
  const fence = createFence(text, 2);
  return `${fence}\n${visibleText(text)}\n${fence}`;
}

/**
 * Returns a fence that is one backtick longer than the longest run of backticks in the text, and longer than `least`.
 */
function createFence(text: string, least: number): string {
  const runs = text.match(/`+/g) ?? [];
  return "`".repeat(runs.reduce((most, { length }) => Math.max(most, length), least) + 1);
}
