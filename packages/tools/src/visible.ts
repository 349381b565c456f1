/**
 * Characters that a reader does not see, or that change the order of what is seen: format characters (marks of
 * direction, joiners, tags), controls other than line breaks and tabs, letters and spaces without ink,
 * variation selectors, and halves of characters.
 */
const UNSEEN =
  /(?![\n\t ])(?:[\p{Cf}\p{Cc}\p{Cs}\p{Co}\p{Z}\u2800\u3164\uFFA0]|\p{Default_Ignorable_Code_Point})/gu;

/** A text as shown in a question: `\u{202e}` replaces a character that is invisible or would mislead. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The same in one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** The same as Markdown that is nothing but that text: no mark in it counts, and nothing in it ends it. */
export function codeSpan(text: string): string {
  const line = visibleLine(text);
  const ticks = moreTicksThan(line, 0);
  const pad = /^`|`$|^$/.test(line) ? " " : "";
  return `${ticks}${pad}${line}${pad}${ticks}`;
}

/** The same in a block of its own, with its lines. */
export function codeBlock(text: string): string {
  const fence = moreTicksThan(text, 2);
  return `${fence}\n${visibleText(text)}\n${fence}`;
}

/** More backticks than stand in a row anywhere in a text. */
function moreTicksThan(text: string, least: number): string {
  const runs = text.match(/`+/g) ?? [];
  return "`".repeat(runs.reduce((most, { length }) => Math.max(most, length), least) + 1);
}
