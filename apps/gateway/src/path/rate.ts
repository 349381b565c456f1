import { setTimeout as delay } from "node:timers/promises";
import type { RateLimit } from "@signalbox/channel";
import { rateKey } from "./outbox-row.ts";

/** So many sends a second in one scope, with a burst at first. */
interface RateRule {
  readonly perSecond: number;
  readonly burst: number;
}

/**
 * Keeps to the rates of a platform that has complained. As long as it takes everything, nothing is held up: the
 * limits that vendors document are often stricter than what they enforce.
 */
export interface RateLimiter {
  /** The platform refused a send under `key`: from now on its rule is kept, for a minute after the last complaint. */
  complained(key: string): void;
  /** Milliseconds until a send under `key` may go; 0 means now. The send is counted. */
  reserve(key: string, rule: RateRule): number;
}

/** The rates of a channel, kept for what is sent to one place of it. */
export interface Rates {
  /** Waits until one more request may go. False where `stop` fires first. */
  keep(account: Limited, place: Place): Promise<boolean>;
  /** The platform refused a request for its rate. */
  complained(account: Limited, place: Place): void;
}

type Limited = { readonly definition: { readonly capabilities: { readonly rate: readonly RateLimit[] } } };
type Place = Parameters<typeof rateKey>[1];

export function createRates(now: () => number, stop: AbortSignal): Rates {
  const limiter = createRateLimiter(now);
  return {
    async keep({ definition: { capabilities } }, place) {
      for (const rate of capabilities.rate) {
        const wait = limiter.reserve(rateKey(rate, place), rate);
        if (wait > 0) await delay(wait, undefined, { signal: stop }).catch(() => {});
      }
      return !stop.aborted;
    },
    complained({ definition: { capabilities } }, place) {
      for (const rate of capabilities.rate) limiter.complained(rateKey(rate, place));
    },
  };
}

const KEPT_MS = 60_000;

/** Token buckets, for the keys that need one. */
export function createRateLimiter(now: () => number): RateLimiter {
  const buckets = new Map<string, { tokens: number; at: number; until: number }>();
  return {
    complained(key) {
      const at = now();
      buckets.set(key, { tokens: 0, at, until: at + KEPT_MS });
      if (buckets.size > 1_000)
        for (const [name, { until }] of buckets) if (until <= at) buckets.delete(name);
    },
    reserve(key, rule) {
      const bucket = buckets.get(key);
      const at = now();
      if (!bucket || bucket.until <= at) {
        buckets.delete(key);
        return 0;
      }
      const refilled = Math.min(rule.burst, bucket.tokens + ((at - bucket.at) / 1000) * rule.perSecond);
      const tokens = refilled - 1;
      buckets.set(key, { ...bucket, tokens, at });
      return tokens >= 0 ? 0 : Math.ceil((-tokens / rule.perSecond) * 1000);
    },
  };
}
