/** Escapes control characters in text of other people, which could control a terminal or reorder the text. */
export function visible(text: string): string {
  return text.replace(
    /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => `\\u{${character.charCodeAt(0).toString(16)}}`,
  );
}
