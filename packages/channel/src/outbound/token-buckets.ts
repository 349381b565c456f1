import type { RateLimit } from "../contract/capabilities.ts";

/** A rate for each second, with a burst at first. */
export type BucketRule = Omit<RateLimit, "scope">;

interface Bucket {
  readonly tokens: number;
  /** When `tokens` was right, in milliseconds since the epoch. */
  readonly at: number;
  readonly fullAt: number;
}

const MOST_BUCKETS = 1_000;

/** Token buckets by key; one that is full again is forgotten. */
export class TokenBuckets {
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Milliseconds until one may be sent under all of these rules; if 0, it is counted. */
  take(rules: readonly { readonly key: string; readonly rule: BucketRule }[]): number {
    const wait = Math.max(0, ...rules.map(({ key, rule }) => waitMs(this.#tokens(key, rule) - 1, rule)));
    if (wait === 0) for (const { key, rule } of rules) this.reserve(key, rule);
    return wait;
  }

  /** Counts one that goes as soon as it may; gives the milliseconds until then. */
  reserve(key: string, rule: BucketRule): number {
    const left = this.#tokens(key, rule) - 1;
    const at = this.#now();
    this.#set(key, { tokens: left, at, fullAt: at + ((rule.burst - left) / rule.perSecond) * 1000 });
    return waitMs(left, rule);
  }

  /** Nothing under `key` for so many milliseconds, then one. */
  pause(key: string, ms: number): void {
    const at = this.#now() + ms;
    this.#set(key, { tokens: 1, at, fullAt: at });
  }

  #tokens(key: string, { perSecond, burst }: BucketRule): number {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return burst;
    return Math.min(burst, bucket.tokens + ((this.#now() - bucket.at) / 1000) * perSecond);
  }

  #set(key: string, bucket: Bucket): void {
    this.#buckets.set(key, bucket);
    if (this.#buckets.size <= MOST_BUCKETS) return;
    const now = this.#now();
    for (const [name, { fullAt }] of this.#buckets) if (fullAt <= now) this.#buckets.delete(name);
  }
}

function waitMs(tokensLeft: number, { perSecond }: BucketRule): number {
  return tokensLeft >= 0 ? 0 : Math.ceil((-tokensLeft / perSecond) * 1000);
}
