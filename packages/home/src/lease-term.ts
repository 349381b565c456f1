/** The duration for which this process certainly holds a lease. */
export interface LeaseTerm {
  /** Starts a request that acquires or renews the lease. Call the result when the request has succeeded. */
  begin(): () => void;
  /** Returns the remaining duration in milliseconds, or 0 if another process may have taken the lease. */
  getMsLeft(): number;
  /** Ends the term for good, because another process has taken over work of this one. */
  end(): void;
}

/** Clocks in milliseconds. */
interface LeaseTermClocks {
  /** Default: `performance.now` */
  readonly monotonic?: () => number;
  /** Default: `Date.now` */
  readonly wall?: () => number;
}

/**
 * Tracks the end of a lease. It counts from before each request was sent, so the end is never later than the end that
 * the store knows.
 */
export function createLeaseTerm(
  leaseMs: number,
  { monotonic = () => performance.now(), wall = Date.now }: LeaseTermClocks = {},
): LeaseTerm {
  let hasEnded = false;
  let renewed = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };
  return {
    begin() {
      const begun = { monotonic: monotonic(), wall: wall() };
      return () => {
        if (begun.monotonic > renewed.monotonic) renewed = begun;
      };
    },
    getMsLeft() {
      if (hasEnded) return 0;
      // The monotonic clock may stand still while the machine is suspended. The wall clock does not, but can be set.
      const elapsed = Math.max(monotonic() - renewed.monotonic, wall() - renewed.wall);
      return Math.max(0, leaseMs - elapsed);
    },
    end() {
      hasEnded = true;
    },
  };
}
