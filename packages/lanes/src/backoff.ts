/** Milliseconds to wait after so many failures in a row; the first is 1. */
export type Backoff = (failures: number) => number;

export interface BackoffOptions {
  /** After the first failure, in milliseconds. Default: 2,000. It doubles with each. */
  readonly firstMs?: number;
  /** In milliseconds. Default: 300,000. */
  readonly longestMs?: number;
  /** Between 0 and 1: makes up to half of each wait a matter of chance. Default: none is. */
  readonly random?: () => number;
}

/** Doubles from try to try, so that what is down is asked ever less often. */
export function exponentialBackoff(options: BackoffOptions = {}): Backoff {
  const { firstMs = 2_000, longestMs = 300_000, random = () => 1 } = options;
  return (failures) => {
    const full = Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
    return Math.round(full / 2 + (full / 2) * random());
  };
}
