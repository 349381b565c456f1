import { distance } from "fastest-levenshtein";

/** A misspelt word may differ in this share of its letters, and in at least two. */
const MAX_DIFFERENCE = 1 / 3;
const MIN_DIFFERENCE = 2;
/** Shorter words may differ in one letter. */
const SHORT_WORD = 4;
const MAX_SUGGESTIONS = 3;

/**
 * Returns the words most similar to `written`, most similar first.
 *
 * @returns nothing if `written` is one of the words
 */
function suggest(written: string, words: readonly string[]): readonly string[] {
  if (words.includes(written)) return [];
  const lower = written.toLowerCase();
  const limit =
    written.length < SHORT_WORD ? 1 : Math.max(MIN_DIFFERENCE, Math.floor(written.length * MAX_DIFFERENCE));
  const similar = [...new Set(words)]
    .map((word) => ({ word, difference: distance(lower, word.toLowerCase()) }))
    .filter(({ difference }) => difference <= limit)
    .toSorted((a, b) => a.difference - b.difference);
  const closest = similar.filter(({ difference }) => difference === similar[0]?.difference);
  if (closest.length > 0) return closest.slice(0, MAX_SUGGESTIONS).map(({ word }) => word);
  return words.filter((word) => isPrefix(word.toLowerCase(), lower)).slice(0, 1);
}

/** Returns whether one word begins with the other, such as `warning` and `warn`. */
function isPrefix(word: string, written: string): boolean {
  const [shorter, longer] = word.length < written.length ? [word, written] : [written, word];
  return shorter.length >= SHORT_WORD && longer.startsWith(shorter);
}

/** Returns "Did you mean …? ", with a trailing space, or an empty string if no word is similar. */
export function didYouMean(written: string, words: readonly string[]): string {
  const suggestions = suggest(written, words);
  return suggestions.length === 0 ? "" : `Did you mean ${suggestions.join(" or ")}? `;
}
