/** Token counts. `undefined` means that the vendor did not report a count. It does not mean zero. */
export interface Usage {
  readonly input: {
    /** All input tokens, including cached ones. */
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
  /** Cost in millionths of the price table's currency (US dollars), as an integer. Absent if the price is unknown. */
  readonly costMicros?: number;
}

/** The usage of zero requests: no counts are known, and nothing is estimated. */
export const NO_USAGE: Usage = {
  input: { total: undefined, uncached: undefined, cacheRead: undefined, cacheWrite: undefined },
  output: { total: undefined, reasoning: undefined },
  source: "reported",
};

/**
 * Adds two usages. A count stays `undefined` if neither contains it, and the sum is `estimated` if either usage is.
 * Counts are integers, capped at the largest safe integer, so sums are exact.
 */
export function addUsage(a: Usage, b: Usage): Usage {
  const source = a.source === "estimated" || b.source === "estimated" ? "estimated" : "reported";
  return combined(a, b, source, (one, other) => {
    if (one === undefined || other === undefined) return one ?? other;
    return Math.min(one + other, Number.MAX_SAFE_INTEGER);
  });
}

/** Usage of one model in a run. */
export interface ModelUsage {
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  readonly turns: number;
}

/** Adds usage to that of the same model, which becomes the last entry. */
export function addModelUsage(models: readonly ModelUsage[], added: ModelUsage): readonly ModelUsage[] {
  const isSame = ({ provider, model }: ModelUsage) => provider === added.provider && model === added.model;
  const before = models.find(isSame);
  if (before === undefined) return [...models, added];
  const usage = addUsage(before.usage, added.usage);
  return [
    ...models.filter((each) => each !== before),
    { ...added, usage, turns: before.turns + added.turns },
  ];
}

/**
 * Validates a usage. An invalid count (negative, NaN, infinite) becomes unknown, and a fraction is rounded up. Returns
 * the same object if it is valid.
 */
export function validateUsage(usage: Usage): Usage {
  const { input, output, costMicros, source } = usage;
  const counts = [...Object.values(input ?? {}), ...Object.values(output ?? {}), costMicros];
  if (input && output && counts.every((value) => value === count(value))) return usage;
  return combined(usage, usage, source === "reported" ? source : "estimated", count);
}

/** Combines the counts of two usages. A usage from an untyped adapter may be incomplete. */
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
    costMicros,
  };
}

/** Returns a number from a vendor as a count, or `undefined` if it is not a valid count. */
export function count(value: number | undefined): number | undefined {
  if (typeof value !== "number" || !(value >= 0)) return undefined;
  const whole = Math.ceil(value);
  return Number.isSafeInteger(whole) ? whole : undefined;
}
