/** So many sends a second in one scope, with a burst at first. */
export interface RateRule {
  readonly perSecond: number;
  readonly burst: number;
}

/** Says how long to wait before the next send, and counts it. */
export interface RateLimiter {
  /** Milliseconds until a send under `key` may go; 0 means now. The send is counted either way. */
  reserve(key: string, rule: RateRule): number;
}

/** Token buckets, one a key; full buckets are forgotten. */
export function createRateLimiter(now: () => number): RateLimiter {
  const buckets = new Map<string, { tokens: number; at: number; rule: RateRule }>();
  const refilled = (bucket: { tokens: number; at: number; rule: RateRule }, at: number): number =>
    Math.min(bucket.rule.burst, bucket.tokens + ((at - bucket.at) / 1000) * bucket.rule.perSecond);
  return {
    reserve(key, rule) {
      const at = now();
      if (buckets.size > 1000) {
        for (const [name, bucket] of buckets)
          if (refilled(bucket, at) >= bucket.rule.burst) buckets.delete(name);
      }
      const bucket = buckets.get(key) ?? { tokens: rule.burst, at, rule };
      const tokens = refilled(bucket, at) - 1;
      buckets.set(key, { tokens, at, rule });
      return tokens >= 0 ? 0 : Math.ceil((-tokens / rule.perSecond) * 1000);
    },
  };
}
