/** What others wrote may hold what steers a terminal, or shows a text in another order than it has. */
export function visible(text: string): string {
  return text.replace(
    /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => `\\u{${character.charCodeAt(0).toString(16)}}`,
  );
}
