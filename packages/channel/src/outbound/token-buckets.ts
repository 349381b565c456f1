import type { RateLimit } from "../contract/capabilities.ts";

/** So many a second, with a burst at first. */
export type TokenRate = Pick<RateLimit, "perSecond" | "burst">;

/** Token buckets, one for each key. */
export interface TokenBuckets {
  /** Milliseconds until one more may go under all of these keys; where that is 0, it is counted. */
  take(rates: readonly { readonly key: string; readonly rate: TokenRate }[]): number;
  /** Nothing goes under `key` for so many milliseconds, and then one at a time. */
  pause(key: string, ms: number): void;
}

const mostBuckets = 1000;

/** Keeps a program to rates that are never passed. A bucket that is full again is forgotten. */
export function createTokenBuckets(now: () => number): TokenBuckets {
  const buckets = new Map<string, { tokens: number; at: number; fullAt: number }>();

  function tokensOf(key: string, { perSecond, burst }: TokenRate, at: number): number {
    const bucket = buckets.get(key);
    if (bucket === undefined) return burst;
    return Math.min(burst, bucket.tokens + ((at - bucket.at) / 1000) * perSecond);
  }

  return {
    take(rates) {
      const at = now();
      const waits = rates.map(({ key, rate }) => {
        const missing = 1 - tokensOf(key, rate, at);
        return missing > 0 ? Math.ceil((missing / rate.perSecond) * 1000) : 0;
      });
      const wait = Math.max(0, ...waits);
      if (wait > 0) return wait;
      for (const { key, rate } of rates) {
        const tokens = tokensOf(key, rate, at) - 1;
        buckets.set(key, { tokens, at, fullAt: at + ((rate.burst - tokens) / rate.perSecond) * 1000 });
      }
      if (buckets.size > mostBuckets)
        for (const [key, { fullAt }] of buckets) if (fullAt <= at) buckets.delete(key);
      return 0;
    },
    pause(key, ms) {
      const at = now() + ms;
      buckets.set(key, { tokens: 1, at, fullAt: at });
    },
  };
}
