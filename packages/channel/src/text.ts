import type { TextCapability, TextUnit } from "./contract/capabilities.ts";

/** Windows and old Mac line ends, and Unicode's line and paragraph separators, become `\n`. */
export function normalizeLineEnds(text: string): string {
  return text.replace(/\r\n?|[\u2028\u2029\u0085]/g, "\n");
}

/** Without control characters, tabs and line ends aside, and with whole characters alone. */
export function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it takes out.
  return text.replace(/[\u0000-\u0008\u000b-\u001f]/g, "").toWellFormed();
}

/** Bytes that one code point takes in UTF-8. A lone surrogate counts as the replacement character it becomes. */
function utf8Length(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}

/** The length of `text` as a platform counts it. */
export function textLength(text: string, unit: TextUnit): number {
  if (unit === "utf16") return text.length;
  let length = 0;
  // By index: the iterator of a string makes a string of each character.
  for (let at = 0; at < text.length; at++) {
    const codePoint = text.codePointAt(at) ?? 0;
    length += unit === "codepoints" ? 1 : utf8Length(codePoint);
    if (codePoint > 0xffff) at += 1;
  }
  return length;
}

/**
 * Whether a text is no longer than `max`. One of more than twice as many UTF-16 units is too long in every unit, and is
 * not counted.
 */
export function textFits(
  text: string,
  { max, unit }: { readonly max: number; readonly unit: TextUnit },
): boolean {
  return text.length <= 2 * max && textLength(text, unit) <= max;
}

/** `text`, or as much of it as fits with an ellipsis behind it. `max` in `unit`; none: all of it. */
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

/** As much of a label as fits, in UTF-16 units; never empty, which platforms refuse. */
export function fitLabel(label: string, max: number): string {
  return fitText(withoutControls(label).trim(), { max, unit: "utf16" }) || "…";
}
