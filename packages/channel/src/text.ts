import type { TextCapability, TextUnit } from "./contract/capabilities.ts";

/** Converts all line endings, including Unicode's line and paragraph separators, to `\n`. */
export function normalizeLineEnds(text: string): string {
  return text.replace(/\r\n?|[\u2028\u2029\u0085]/g, "\n");
}

/** Removes control characters except tabs and line endings, and replaces lone surrogates. */
export function removeControlCharacters(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove.
  return text.replace(/[\u0000-\u0008\u000b-\u001f]/g, "").toWellFormed();
}

/** Returns the length of a code point in UTF-8, in bytes. A lone surrogate counts as the replacement character. */
function utf8Length(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}

/** Returns the length of a text in the unit that the platform uses. */
export function textLength(text: string, unit: TextUnit): number {
  if (unit === "utf16") return text.length;
  let length = 0;
  // An index loop, because a string iterator allocates a string per character.
  for (let at = 0; at < text.length; at++) {
    const codePoint = text.codePointAt(at) ?? 0;
    length += unit === "codepoints" ? 1 : utf8Length(codePoint);
    if (codePoint > 0xffff) at += 1;
  }
  return length;
}

/**
 * Returns true if a text is at most `max` long. A text of more than `2 * max` UTF-16 code units is too long in every
 * unit.
 */
export function textFits(
  text: string,
  { max, unit }: { readonly max: number; readonly unit: TextUnit },
): boolean {
  return text.length <= 2 * max && textLength(text, unit) <= max;
}

/** Truncates a text to `max`, including an ellipsis. If `max` is absent, the text stays unchanged. */
export function fitText(text: string, { max, unit }: Pick<TextCapability, "max" | "unit">): string {
  if (max === undefined || textFits(text, { max, unit })) return text;
  const room = max - textLength("…", unit);
  let length = 0;
  let end = 0;
  for (const character of text) {
    length += textLength(character, unit);
    if (length > room) break;
    end += character.length;
  }
  return `${text.slice(0, end)}…`;
}

/** Truncates a label to `max` UTF-16 code units. Never returns an empty label, because platforms reject those. */
export function fitLabel(label: string, max: number): string {
  return fitText(removeControlCharacters(label).trim(), { max, unit: "utf16" }) || "…";
}
