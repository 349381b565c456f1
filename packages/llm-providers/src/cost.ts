import type { Model, ModelPrices, Usage } from "@signalbox/agent-core";
import { countAt, isCount, isRaw, stated } from "./shared/json.ts";

/** Token counts as an adapter reads them off the wire; what the vendor did not say stays away. */
export interface TokenCounts {
  /** All input tokens, cached or not. */
  readonly input?: number | undefined;
  readonly uncached?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** The part of `cacheWrite` kept for the vendor's longer lifetime, which some price differently. */
  readonly cacheWriteLong?: number | undefined;
  readonly output?: number | undefined;
  readonly reasoning?: number | undefined;
}

/** Prices an adapter knows besides the table, in micro-dollars per million tokens. */
export interface ExtraPrices {
  readonly cacheWriteLong?: number;
}

/** Counts as they may be reckoned with: what is negative, broken or not exact was not said. */
function counted(tokens: TokenCounts): TokenCounts {
  return Object.fromEntries(Object.entries(tokens).filter(([, tokens]) => isCount(tokens)));
}

/**
 * Cost in whole micro-dollars, rounded once per request so that sums over requests are exact. `undefined` where
 * neither input nor output was reported, since an unknown amount is not zero. Counts that are no whole numbers from 0
 * up were not reported; a cost too large to be exact is the largest exact one, so that every limit is reached.
 */
export function costMicros(
  given: TokenCounts,
  prices: ModelPrices,
  extra: ExtraPrices = {},
): number | undefined {
  const tokens = counted(given);
  if (tokens.input === undefined && tokens.output === undefined) return undefined;
  const read = tokens.cacheRead ?? 0;
  const write = tokens.cacheWrite ?? 0;
  const writeLong = Math.min(tokens.cacheWriteLong ?? 0, write);
  const plain = tokens.uncached ?? Math.max(0, (tokens.input ?? 0) - read - write);
  const writePrice = prices.cacheWrite ?? prices.input;
  const total =
    plain * prices.input +
    read * (prices.cacheRead ?? prices.input) +
    (write - writeLong) * writePrice +
    writeLong * (extra.cacheWriteLong ?? writePrice) +
    (tokens.output ?? 0) * prices.output;
  const cost = Math.round(total / 1_000_000);
  return isCount(cost) ? cost : Number.MAX_SAFE_INTEGER;
}

/**
 * The prices that apply to a request of this size: some vendors charge more above a number of input tokens, which
 * the catalogue states as `quirks.longPrices {above, input, output, cacheRead?, cacheWrite?}` in the table's unit.
 */
export function pricesFor(model: Model, inputTokens: number | undefined): ModelPrices | undefined {
  const { prices, quirks } = model;
  const long = quirks?.longPrices;
  if (prices === undefined || !isRaw(long)) return prices;
  const above = countAt(long, "above");
  if (above === undefined || inputTokens === undefined || inputTokens <= above) return prices;
  const cacheRead = countAt(long, "cacheRead") ?? prices.cacheRead;
  const cacheWrite = countAt(long, "cacheWrite") ?? prices.cacheWrite;
  return {
    ...prices,
    input: countAt(long, "input") ?? prices.input,
    output: countAt(long, "output") ?? prices.output,
    ...stated({ cacheRead, cacheWrite }),
  };
}

/**
 * A `Usage` as the vendor reported it, with its cost where the model has prices. Counts that are no whole numbers from
 * 0 up were not reported.
 */
export function reportedUsage(
  given: TokenCounts,
  prices: ModelPrices | undefined,
  extra?: ExtraPrices,
): Usage {
  const tokens = counted(given);
  const cost = prices === undefined ? undefined : costMicros(tokens, prices, extra);
  return {
    input: {
      total: tokens.input,
      uncached: tokens.uncached,
      cacheRead: tokens.cacheRead,
      cacheWrite: tokens.cacheWrite,
    },
    output: { total: tokens.output, reasoning: tokens.reasoning },
    source: "reported",
    ...(cost === undefined ? {} : { costMicros: cost }),
  };
}
