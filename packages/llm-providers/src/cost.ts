import type { Model, ModelPrices, Usage } from "@signalbox/agent-core";
import { countAt, isCount, objectAt, stated } from "./shared/json.ts";

/** Token counts as an adapter reads them off the wire; what the vendor did not say stays away. */
export interface TokenCounts {
  /** All input tokens, cached or not. */
  readonly input?: number | undefined;
  readonly uncached?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** The part of `cacheWrite` kept for the vendor's longer lifetime. */
  readonly cacheWriteLong?: number | undefined;
  readonly output?: number | undefined;
  readonly reasoning?: number | undefined;
}

/** What vendors that have one charge for their longer lifetime of a cache write, as so many times the input price. */
const LONG_WRITE_TIMES = 2;

/** Counts as they may be reckoned with: what is negative, broken or not exact was not said. */
export function counted(tokens: { readonly [Name in keyof TokenCounts]: unknown }): TokenCounts {
  const counts: Record<string, number> = {};
  for (const [name, value] of Object.entries(tokens)) if (isCount(value)) counts[name] = value;
  return counts;
}

/**
 * Cost in whole micro-dollars, rounded once per request so that sums over requests are exact. `undefined` where neither
 * input nor output was reported; a cost too large to be exact is the largest exact one, so that every limit is reached.
 */
export function costMicros(given: TokenCounts, prices: ModelPrices): number | undefined {
  const { input, output, cacheRead = 0, cacheWrite = 0, cacheWriteLong = 0, uncached } = counted(given);
  if (input === undefined && output === undefined) return undefined;
  const long = Math.min(cacheWriteLong, cacheWrite);
  const total =
    (uncached ?? Math.max(0, (input ?? 0) - cacheRead - cacheWrite)) * prices.input +
    cacheRead * (prices.cacheRead ?? prices.input) +
    (cacheWrite - long) * (prices.cacheWrite ?? prices.input) +
    long * prices.input * LONG_WRITE_TIMES +
    (output ?? 0) * prices.output;
  const cost = Math.round(total / 1_000_000);
  return isCount(cost) ? cost : Number.MAX_SAFE_INTEGER;
}

/**
 * The prices that apply to a request of this size: some vendors charge more above a number of input tokens, which
 * the catalogue states as `quirks.longPrices {above, input, output, cacheRead?, cacheWrite?}` in the table's unit.
 */
export function pricesFor({ prices, quirks = {} }: Model, inputTokens = 0): ModelPrices | undefined {
  const long = objectAt(quirks, "longPrices");
  const above = countAt(long, "above");
  if (prices === undefined || above === undefined || inputTokens <= above) return prices;
  const [input, output] = [countAt(long, "input"), countAt(long, "output")];
  const [cacheRead, cacheWrite] = [countAt(long, "cacheRead"), countAt(long, "cacheWrite")];
  return { ...prices, ...stated({ input, output, cacheRead, cacheWrite }) };
}

/** What the vendor reported, with its cost where the model has prices. */
export function reportedUsage(given: TokenCounts, prices: ModelPrices | undefined): Usage {
  const { input, uncached, cacheRead, cacheWrite, output, reasoning } = counted(given);
  return {
    input: { total: input, uncached, cacheRead, cacheWrite },
    output: { total: output, reasoning },
    source: "reported",
    ...stated({ costMicros: prices && costMicros(given, prices) }),
  };
}
