/** Returns the delay before the next attempt in milliseconds, after this many consecutive failures (1 is the first). */
export type Backoff = (failures: number) => number;

export interface BackoffOptions {
  /** Delay after the first failure, in milliseconds. Doubles with each further failure. Default: 2,000. */
  readonly firstMs?: number;
  /** Maximum delay in milliseconds. Default: 300,000. */
  readonly maxMs?: number;
  /** Returns a random number between 0 and 1. Randomizes up to half of each delay. Default: no jitter. */
  readonly random?: () => number;
}

/** Creates an exponential backoff. */
export function exponentialBackoff(options: BackoffOptions = {}): Backoff {
  const { firstMs = 2_000, maxMs = 300_000, random = () => 1 } = options;
  return (failures) => {
    const full = Math.min(maxMs, firstMs * 2 ** Math.max(0, failures - 1));
    return Math.round(full / 2 + (full / 2) * random());
  };
}
