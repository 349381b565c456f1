/** Token counts. `undefined` means the vendor did not say, which is not zero. */
export interface Usage {
  readonly input: {
    /** All input tokens, cached or not. */
    readonly total: number | undefined;
    readonly uncached: number | undefined;
    readonly cacheRead: number | undefined;
    readonly cacheWrite: number | undefined;
  };
  readonly output: {
    readonly total: number | undefined;
    readonly reasoning: number | undefined;
  };
  readonly source: "reported" | "estimated";
  /** Cost in millionths of the price table's currency unit (US dollars), an integer; absent where no price is known. */
  readonly costMicros?: number;
}

/** The usage of no requests: nothing is known, and nothing was estimated. */
export const NO_USAGE: Usage = {
  input: { total: undefined, uncached: undefined, cacheRead: undefined, cacheWrite: undefined },
  output: { total: undefined, reasoning: undefined },
  source: "reported",
};

function plus(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : Math.min(a + b, Number.MAX_SAFE_INTEGER);
}

/**
 * Adds up two usages. Counts are integers, so sums over runs and sessions are exact; a count neither side knows stays
 * `undefined`, and one too large to be exact is the largest exact one; the sum is `estimated` as soon as one part is.
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

/**
 * A usage as it may be counted: what is no count (negative, not a number, without bound) is unknown, as if the vendor
 * had not said it. A part of a unit counts as a whole one. The same object when it is fine as it is.
 */
export function soundUsage(usage: Usage): Usage {
  const { input, output, costMicros } = usage;
  if (
    input &&
    output &&
    isCount(input.total) &&
    isCount(input.uncached) &&
    isCount(input.cacheRead) &&
    isCount(input.cacheWrite) &&
    isCount(output.total) &&
    isCount(output.reasoning) &&
    isCount(costMicros)
  ) {
    return usage;
  }
  const cost = count(costMicros);
  return {
    input: {
      total: count(input?.total),
      uncached: count(input?.uncached),
      cacheRead: count(input?.cacheRead),
      cacheWrite: count(input?.cacheWrite),
    },
    output: { total: count(output?.total), reasoning: count(output?.reasoning) },
    source: usage.source === "reported" ? "reported" : "estimated",
    ...(cost === undefined ? {} : { costMicros: cost }),
  };
}

function isCount(value: number | undefined): boolean {
  return value === undefined || (Number.isSafeInteger(value) && value >= 0);
}

/** The count a vendor's number is, or `undefined`. */
export function count(value: number | undefined): number | undefined {
  if (typeof value !== "number" || !(value >= 0)) return undefined;
  const whole = Math.ceil(value);
  return Number.isSafeInteger(whole) ? whole : undefined;
}
