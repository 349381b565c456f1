/** Control characters, line separators and invisible format characters, which can forge lines or reorder text. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** Joiners are part of emoji and of the words of several scripts. */
const KEPT = new Set(["\n", "\t", "\u200c", "\u200d"]);

/** Escapes control characters in text of other people, which could control a terminal or reorder the text. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) =>
    KEPT.has(character) ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Escapes as {@link visible}, and line breaks and tabs, so that the text stays one line. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** Escapes the same characters in the strings of serialized JSON. Its meaning stays the same. */
export function visibleJson(json: string): string {
  return json.replace(UNSEEN, (character) =>
    KEPT.has(character)
      ? character
      : [...Array(character.length).keys()]
          .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`)
          .join(""),
  );
}
