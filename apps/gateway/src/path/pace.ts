/** So many a second, with a burst at first. */
interface PaceRule {
  readonly perSecond: number;
  readonly burst: number;
}

/** Holds what may as well wait to rates that are never passed. */
export interface Pace {
  /** Milliseconds until one may go under all of these rules; where that is 0, it is counted. */
  take(rules: readonly { readonly key: string; readonly rule: PaceRule }[]): number;
  /** Nothing under `key` for so many milliseconds. */
  pause(key: string, ms: number): void;
}

const MOST_BUCKETS = 1_000;

/** Token buckets; one that is full again is forgotten. */
export function createPace(now: () => number): Pace {
  const buckets = new Map<string, { tokens: number; at: number; fullAt: number }>();

  const tokensOf = (key: string, { perSecond, burst }: PaceRule, at: number): number => {
    const bucket = buckets.get(key);
    if (bucket === undefined) return burst;
    return Math.min(burst, bucket.tokens + ((at - bucket.at) / 1000) * perSecond);
  };

  return {
    take(rules) {
      const at = now();
      let wait = 0;
      for (const { key, rule } of rules) {
        const tokens = tokensOf(key, rule, at);
        if (tokens < 1) wait = Math.max(wait, Math.ceil(((1 - tokens) / rule.perSecond) * 1000));
      }
      if (wait > 0) return wait;
      for (const { key, rule } of rules) {
        const tokens = tokensOf(key, rule, at) - 1;
        buckets.set(key, { tokens, at, fullAt: at + ((rule.burst - tokens) / rule.perSecond) * 1000 });
      }
      if (buckets.size > MOST_BUCKETS)
        for (const [key, { fullAt }] of buckets) if (fullAt <= at) buckets.delete(key);
      return 0;
    },
    pause(key, ms) {
      const at = now() + ms;
      buckets.set(key, { tokens: 1, at, fullAt: at });
    },
  };
}
