/** Returns the pause before the next attempt, in milliseconds, after so many failures in a row (1 is the first). */
export type Backoff = (failures: number) => number;

export interface BackoffOptions {
  /** Pause after the first failure, in milliseconds. Doubles with each further one. Default: 2,000. */
  readonly firstMs?: number;
  /** Upper limit of the pause, in milliseconds. Default: 300,000. */
  readonly maxMs?: number;
  /** Returns a number between 0 and 1. Randomizes up to half of each pause. Default: no jitter. */
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
