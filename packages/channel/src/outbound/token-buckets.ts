import type { RateLimit } from "../contract/capabilities.ts";

/** A rate per second with an initial burst. */
export type BucketRule = Omit<RateLimit, "scope">;

interface Bucket {
  readonly tokens: number;
  /** The time at which `tokens` was calculated, in milliseconds since the epoch. */
  readonly at: number;
  readonly fullAt: number;
}

const MAX_BUCKETS = 1_000;

/** Token buckets by key. Full buckets are dropped. */
export class TokenBuckets {
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the number of milliseconds until all rules permit a request. If it is 0, the request is counted. */
  take(rules: readonly { readonly key: string; readonly rule: BucketRule }[]): number {
    const wait = Math.max(0, ...rules.map(({ key, rule }) => waitMs(this.#tokens(key, rule) - 1, rule)));
    if (wait === 0) for (const { key, rule } of rules) this.reserve(key, rule);
    return wait;
  }

  /** Counts a request that is sent as soon as permitted. Returns the number of milliseconds until then. */
  reserve(key: string, rule: BucketRule): number {
    const left = this.#tokens(key, rule) - 1;
    const at = this.#now();
    this.#set(key, { tokens: left, at, fullAt: at + ((rule.burst - left) / rule.perSecond) * 1000 });
    return waitMs(left, rule);
  }

  /** Blocks a key for `ms`, then permits one request. */
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
    if (this.#buckets.size <= MAX_BUCKETS) return;
    const now = this.#now();
    for (const [name, { fullAt }] of this.#buckets) if (fullAt <= now) this.#buckets.delete(name);
  }
}

function waitMs(tokensLeft: number, { perSecond }: BucketRule): number {
  return tokensLeft >= 0 ? 0 : Math.ceil((-tokensLeft / perSecond) * 1000);
}
