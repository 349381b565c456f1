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

/**
 * Adds up two usages. Counts are integers, so sums over runs and sessions are exact; a count neither side knows stays
 * `undefined`, and one too large to be exact is the largest exact one; the sum is `estimated` as soon as one part is.
 */
export function addUsage(a: Usage, b: Usage): Usage {
  const source = a.source === "estimated" || b.source === "estimated" ? "estimated" : "reported";
  return combined(a, b, source, (one, other) => {
    if (one === undefined || other === undefined) return one ?? other;
    return Math.min(one + other, Number.MAX_SAFE_INTEGER);
  });
}

/**
 * A usage as it may be counted: what is no count (negative, not a number, without bound) is unknown, as if the vendor
 * had not said it. A part of a unit counts as a whole one. The same object when it is fine as it is.
 */
export function validateUsage(usage: Usage): Usage {
  const { input, output, costMicros, source } = usage;
  const counts = [...Object.values(input ?? {}), ...Object.values(output ?? {}), costMicros];
  if (input && output && counts.every((value) => value === count(value))) return usage;
  return combined(usage, usage, source === "reported" ? source : "estimated", count);
}

/** Each count of a usage made of those of two. A usage from an adapter written without types may lack its parts. */
function combined(
  a: Partial<Usage>,
  b: Partial<Usage>,
  source: Usage["source"],
  make: (a: number | undefined, b: number | undefined) => number | undefined,
): Usage {
  const costMicros = make(a.costMicros, b.costMicros);
  return {
    input: {
      total: make(a.input?.total, b.input?.total),
      uncached: make(a.input?.uncached, b.input?.uncached),
      cacheRead: make(a.input?.cacheRead, b.input?.cacheRead),
      cacheWrite: make(a.input?.cacheWrite, b.input?.cacheWrite),
    },
    output: {
      total: make(a.output?.total, b.output?.total),
      reasoning: make(a.output?.reasoning, b.output?.reasoning),
    },
    source,
    ...(costMicros === undefined ? {} : { costMicros }),
  };
}

/** The count a vendor's number is, or `undefined`. */
export function count(value: number | undefined): number | undefined {
  if (typeof value !== "number" || !(value >= 0)) return undefined;
  const whole = Math.ceil(value);
  return Number.isSafeInteger(whole) ? whole : undefined;
}
