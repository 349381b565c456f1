import type { Clock } from "../contract/definition.ts";

/** A clock that a test advances. Delays end when it is advanced past them. */
export interface AdjustableClock extends Clock {
  /** Advances the clock by `ms` milliseconds. */
  advance(ms: number): void;
  /** Number of pending delays. */
  readonly pending: number;
}

/** @param start milliseconds since the epoch. Default: now. */
export function createAdjustableClock(start: number = Date.now()): AdjustableClock {
  let now = start;
  const pending = new Set<{ readonly at: number; readonly end: () => void }>();
  return {
    now: () => now,
    delay(ms, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const delay = { at: now + ms, end: resolve };
      const abort = (): void => {
        pending.delete(delay);
        reject(signal?.reason);
      };
      pending.add(delay);
      signal?.addEventListener("abort", abort, { once: true });
      if (signal?.aborted === true) abort();
      return promise;
    },
    advance(ms) {
      now += ms;
      for (const delay of pending) {
        if (delay.at > now) continue;
        pending.delete(delay);
        delay.end();
      }
    },
    get pending() {
      return pending.size;
    },
  };
}
