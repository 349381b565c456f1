import type { Usage } from "./model.ts";

/** The usage of no requests: nothing is known, and nothing was estimated. */
export const NO_USAGE: Usage = {
  input: { total: undefined, uncached: undefined, cacheRead: undefined, cacheWrite: undefined },
  output: { total: undefined, reasoning: undefined },
  source: "reported",
};

function plus(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : a + b;
}

/**
 * Adds up two usages. Counts are integers, so sums over runs and sessions are exact; a count neither side knows stays
 * `undefined`; the sum is `estimated` as soon as one part is.
 */
export function addUsage(a: Usage, b: Usage): Usage {
  const costMicros = plus(a.costMicros, b.costMicros);
  return {
    input: {
      total: plus(a.input.total, b.input.total),
      uncached: plus(a.input.uncached, b.input.uncached),
      cacheRead: plus(a.input.cacheRead, b.input.cacheRead),
      cacheWrite: plus(a.input.cacheWrite, b.input.cacheWrite),
    },
    output: {
      total: plus(a.output.total, b.output.total),
      reasoning: plus(a.output.reasoning, b.output.reasoning),
    },
    source: a.source === "estimated" || b.source === "estimated" ? "estimated" : "reported",
    ...(costMicros === undefined ? {} : { costMicros }),
  };
}
