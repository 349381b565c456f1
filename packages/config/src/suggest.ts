import { closest, distance } from "fastest-levenshtein";

/** Words may differ in a third of their letters, and in two at least, to be taken for a slip. */
const SHARE = 3;
const LEAST = 2;
/** Fewer letters say too little. */
const SHORT = 4;

/** Which of the words somebody may have meant who wrote another. */
export function suggest(written: string, words: readonly string[]): string | undefined {
  // What is one of the words is no slip.
  if (words.length === 0 || words.includes(written)) return undefined;
  const lower = written.toLowerCase();
  const nearest = words.find((word) => word.toLowerCase() === lower) ?? closest(written, [...words]);
  const most = written.length < SHORT ? 1 : Math.max(LEAST, Math.floor(written.length / SHARE));
  if (nearest.toLowerCase() === lower || distance(written, nearest) <= most) return nearest;
  return words.find((word) => isBeginning(word.toLowerCase(), lower));
}

/** Whether one of the two is how the other begins: `warning` and `warn`, `anthropic` and `anthropic-messages`. */
function isBeginning(word: string, written: string): boolean {
  const [shorter, longer] = word.length < written.length ? [word, written] : [written, word];
  return shorter.length >= SHORT && longer.startsWith(shorter);
}

/** The same as a sentence with a space behind it, or nothing. */
export function didYouMean(written: string, words: readonly string[]): string {
  const meant = suggest(written, words);
  return meant === undefined ? "" : `Did you mean ${meant}? `;
}
