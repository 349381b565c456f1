import type { Model, ModelPrices, Usage } from "@signalbox/agent-core";
import { countAt, isCount, objectAt, withoutUndefined } from "./shared/json.ts";

/** Token counts of one request. Absent if the vendor did not report them. */
export interface TokenCounts {
  /** All input tokens, including cached ones. */
  readonly input?: number | undefined;
  readonly uncached?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** The tokens in `cacheWrite` that have the vendor's longer lifetime. */
  readonly cacheWriteLong?: number | undefined;
  readonly output?: number | undefined;
  readonly reasoning?: number | undefined;
}

/** Price of a cache write with the longer lifetime, as a multiple of the input price. */
const LONG_CACHE_WRITE_FACTOR = 2;

/** Drops counts that are negative, fractional or not safe integers. */
export function validCounts(tokens: { readonly [Name in keyof TokenCounts]: unknown }): TokenCounts {
  const counts: Record<string, number> = {};
  for (const [name, value] of Object.entries(tokens)) if (isCount(value)) counts[name] = value;
  return counts;
}

/**
 * Returns the cost in whole micro-dollars, rounded once per request. `undefined` if neither input nor output was
 * reported. A cost above the largest safe integer becomes that integer, so that it exceeds every limit.
 */
export function costMicros(given: TokenCounts, prices: ModelPrices): number | undefined {
  const { input, output, cacheRead = 0, cacheWrite = 0, cacheWriteLong = 0, uncached } = validCounts(given);
  if (input === undefined && output === undefined) return undefined;
  const long = Math.min(cacheWriteLong, cacheWrite);
  const total =
    (uncached ?? Math.max(0, (input ?? 0) - cacheRead - cacheWrite)) * prices.input +
    cacheRead * (prices.cacheRead ?? prices.input) +
    (cacheWrite - long) * (prices.cacheWrite ?? prices.input) +
    long * prices.input * LONG_CACHE_WRITE_FACTOR +
    (output ?? 0) * prices.output;
  const cost = Math.round(total / 1_000_000);
  return isCount(cost) ? cost : Number.MAX_SAFE_INTEGER;
}

/**
 * Returns the prices for a request of this size. Some vendors charge more above a number of input tokens.
 * `quirks.longPrices` contains these prices: `{ above, input, output, cacheRead?, cacheWrite? }`.
 */
export function pricesFor({ prices, quirks = {} }: Model, inputTokens = 0): ModelPrices | undefined {
  const long = objectAt(quirks, "longPrices");
  const above = countAt(long, "above");
  if (prices === undefined || above === undefined || inputTokens <= above) return prices;
  const [input, output] = [countAt(long, "input"), countAt(long, "output")];
  const [cacheRead, cacheWrite] = [countAt(long, "cacheRead"), countAt(long, "cacheWrite")];
  return { ...prices, ...withoutUndefined({ input, output, cacheRead, cacheWrite }) };
}

/** Returns the reported usage, with its cost if the model has prices. */
export function reportedUsage(given: TokenCounts, prices: ModelPrices | undefined): Usage {
  const { input, uncached, cacheRead, cacheWrite, output, reasoning } = validCounts(given);
  return {
    input: { total: input, uncached, cacheRead, cacheWrite },
    output: { total: output, reasoning },
    source: "reported",
    ...withoutUndefined({ costMicros: prices && costMicros(given, prices) }),
  };
}
