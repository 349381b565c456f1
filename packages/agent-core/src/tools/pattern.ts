/** Strings longer than this are not matched against a pattern. */
export const MAX_PATTERN_TEXT = 256;
/** Ways through a pattern that the engine may have to try for one string; a few of its steps each. */
const MAX_WAYS = 2 ** 25;

/** Escapes, classes, what a group opens with, quantifiers, and the single characters that mean something. */
const TOKEN =
  /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\((?:\?(?:<?[=!]|:|<\w+>))?|[)|]|[*+?]|\{\d+(?:,\d*)?\}|[\s\S]/gu;

/** What matching a pattern costs. */
export interface PatternCost {
  /** Ways through it that do not depend on the text. */
  readonly fixed: number;
  /** Repetitions without an end, and where the match begins: each has as many lengths as the text. */
  readonly open: number;
  /** Characters of the pattern, which is compiled each time. */
  readonly length: number;
}

/** What compiling one character of a pattern takes, in ways tried. */
const COMPILED = 64;

/** Ways that the engine may have to try on a text of `length` characters. */
export function waysThrough({ fixed, open, length: compiled }: PatternCost, length: number): number {
  return fixed * length ** open + compiled * COMPILED;
}

/**
 * What a pattern costs that the engine, which tries one way through it after the other, is sure to come to an end with
 * soon on a string of `MAX_PATTERN_TEXT` characters, whoever wrote it; `undefined` for any other. Deliberately narrow:
 * no look-around, no reference back, no repeated group, and few alternatives and open repetitions, each of which
 * multiplies the ways.
 */
export function safePattern(source: string): PatternCost | undefined {
  try {
    // Patterns of other dialects are annotations.
    new RegExp(source, "u");
  } catch {
    return undefined;
  }
  // An unanchored pattern is tried from each character.
  const cost = {
    fixed: 1,
    open: source.startsWith("^") && !source.includes("|") ? 0 : 1,
    length: source.length,
  };
  let afterGroup = false;
  for (const [token] of source.matchAll(TOKEN)) {
    if (/^\\[1-9k]|^\(\?<?[=!]/.test(token)) return undefined;
    if (/^(?:[*+?]|\{\d)/.test(token)) {
      // A lazy quantifier's `?` comes here too, and only makes the estimate a little too high.
      if (afterGroup && token !== "?") return undefined;
      const lengths = lengthsOf(token);
      if (lengths === "open") cost.open++;
      else cost.fixed *= lengths;
    } else if (token === "|") {
      cost.fixed *= 2;
    }
    afterGroup = token === ")";
  }
  return cost.fixed * MAX_PATTERN_TEXT ** cost.open <= MAX_WAYS ? cost : undefined;
}

/** How many lengths a repetition may have; a fixed one costs its length instead. */
function lengthsOf(quantifier: string): number | "open" {
  if (quantifier === "?") return 2;
  const [, min, comma, max] = /^\{(\d+)(,?)(\d*)\}$/.exec(quantifier) ?? [];
  if (min === undefined) return "open";
  if (comma === "") return Number(min) > MAX_PATTERN_TEXT ? Number.POSITIVE_INFINITY : 1;
  return max === "" ? "open" : Number(max) - Number(min) + 1;
}
