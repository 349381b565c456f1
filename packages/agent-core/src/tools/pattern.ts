/** Strings longer than this are not matched against a pattern. */
export const MAX_PATTERN_TEXT = 256;
/** Ways through a pattern that the engine may have to try for one string; a few of its steps each. */
const MAX_WAYS = 2 ** 25;

/** Escapes, classes, what a group opens with, quantifiers, and the single characters that mean something. */
const TOKEN =
  /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\((?:\?(?:<?[=!]|:|<\w+>))?|[)|]|[*+?]|\{\d+(?:,\d*)?\}|[\s\S]/gu;

/**
 * Whether the engine, which tries one way through a pattern after the other, is sure to come to an end soon on a string
 * of `MAX_PATTERN_TEXT` characters, whoever wrote the pattern. Deliberately narrow: no look-around, no reference back,
 * no repeated group, and few alternatives and open repetitions, each of which multiplies the ways.
 */
export function isSafePattern(source: string): boolean {
  try {
    // Patterns of other dialects are annotations.
    new RegExp(source, "u");
  } catch {
    return false;
  }
  // An unanchored pattern is tried from each character.
  let ways = source.startsWith("^") && !source.includes("|") ? 1 : MAX_PATTERN_TEXT;
  let afterGroup = false;
  for (const [token] of source.matchAll(TOKEN)) {
    if (/^\\[1-9k]|^\(\?<?[=!]/.test(token)) return false;
    if (/^(?:[*+?]|\{\d)/.test(token)) {
      // A lazy quantifier's `?` comes here too, and only makes the estimate a little too high.
      if (afterGroup && token !== "?") return false;
      ways *= waysOf(token);
    } else if (token === "|") {
      ways *= 2;
    }
    if (ways > MAX_WAYS) return false;
    afterGroup = token === ")";
  }
  return true;
}

/** How many lengths a repetition may have; a fixed one costs its length instead. */
function waysOf(quantifier: string): number {
  if (quantifier === "?") return 2;
  const [, min, comma, max] = /^\{(\d+)(,?)(\d*)\}$/.exec(quantifier) ?? [];
  if (min === undefined) return MAX_PATTERN_TEXT;
  if (comma === "") return Number(min) > MAX_PATTERN_TEXT ? Number.POSITIVE_INFINITY : 1;
  return max === "" ? MAX_PATTERN_TEXT : Number(max) - Number(min) + 1;
}
