import { LinearPattern } from "./pattern-linear.ts";
import { type PatternNode, parsePattern } from "./pattern-parse.ts";

/** Steps of the engine that one check may cost, about. */
const MOST_STEPS = 1e8;

/** A pattern of a schema, which may come from anywhere. */
export interface Pattern {
  readonly source: string;
  /** Whether the text matches; also `true` where finding out could take too long. */
  test(text: string): boolean;
}

/**
 * A pattern whose check takes a bounded time whatever pattern and text are. The engine's own matcher tries one way
 * after the other, so it is used only where there are few: no group repeats, none holds alternatives, and the length of
 * the text to the power of the repetitions, times that of the pattern written out, stays below 10^8. Other patterns are matched in one pass over the text, all
 * ways at once. What neither can do is not checked: look-arounds and references back beside repeated groups, patterns of
 * more than 2,000 parts, texts of more characters than 5,000,000 divided by the parts. `undefined` for what is no pattern.
 */
export function compilePattern(source: string): Pattern | undefined {
  const engine = regExp(source);
  if (engine === undefined) return undefined;
  const node = parsePattern(source, engine.unicode);
  if (node === undefined) return { source, test: () => true };
  const ways = waysOf(node);
  const length = lengthOf(node);
  let linear: LinearPattern | undefined;
  return {
    source,
    test: (text) => {
      if (length * Math.max(2, text.length) ** ways <= MOST_STEPS) return engine.test(text);
      linear ??= new LinearPattern(node, engine.unicode);
      return linear.test(text);
    },
  };
}

function regExp(source: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Patterns of other dialects are annotations.
    }
  }
  return undefined;
}

/** The power of the text's length that a match may take; infinite where it is no power. */
function waysOf(node: PatternNode): number {
  const anchored = node.type === "all" && node.nodes[0]?.type === "assert" && node.nodes[0].kind === "^";
  return Math.max(1, countWays(node, true) + (anchored ? 0 : 1));
}

/** How long a pattern is with its repetitions written out; what may be repeated for ever counts once. */
function lengthOf(node: PatternNode): number {
  switch (node.type) {
    case "atom":
    case "assert":
      return 1;
    case "all":
    case "any":
      return node.nodes.reduce((sum, part) => sum + lengthOf(part), 1);
    case "group":
      return lengthOf(node.node);
    case "native":
      return node.node === undefined ? 1 : lengthOf(node.node);
    case "repeat":
      return lengthOf(node.node) * Math.max(1, Number.isFinite(node.max) ? node.max : node.min);
  }
}

function countWays(node: PatternNode, top: boolean): number {
  switch (node.type) {
    case "atom":
    case "assert":
      return 0;
    case "all":
      return node.nodes.reduce((sum, part) => sum + countWays(part, top && node.nodes.length === 1), 0);
    case "any":
      if (!top) return Number.POSITIVE_INFINITY;
      return Math.max(...node.nodes.map((part) => countWays(part, false)));
    case "group":
      return countWays(node.node, false);
    case "native":
      return node.node === undefined ? 1 : countWays(node.node, false);
    case "repeat":
      if (node.node.type !== "atom" && node.max > 1) return Number.POSITIVE_INFINITY;
      return countWays(node.node, false) + (node.min === node.max ? 0 : 1);
  }
}
