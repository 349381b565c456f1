/**
 * Characters that a reader does not see, or that change the order of what is seen: format characters (marks of
 * direction, joiners, tags), controls other than line breaks and tabs, letters and spaces without ink,
 * variation selectors, and halves of characters.
 */
const UNSEEN =
  /(?![\n\t ])(?:[\p{Cf}\p{Cc}\p{Cs}\p{Co}\p{Z}\u2800\u3164\uFFA0]|\p{Default_Ignorable_Code_Point})/gu;

/** A text as a person is asked about it: `\u{202e}` stands for what could not be seen or would mislead. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
