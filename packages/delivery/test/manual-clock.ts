import type { Clock } from "@signalbox/channel";

/** A clock that stands still until it is told to go on. */
export interface ManualClock extends Clock {
  /** Lets the time pass, and whoever waits for it go on; each delay ends at its own moment. */
  advance(ms: number): Promise<void>;
  /** How many wait. */
  readonly waiting: number;
}

interface Delay {
  readonly at: number;
  readonly resolve: () => void;
}

export function manualClock(start = 1_000_000): ManualClock {
  let now = start;
  const delays = new Set<Delay>();

  return {
    now: () => now,
    delay: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const delay = { at: now + ms, resolve };
        delays.add(delay);
        signal?.addEventListener("abort", () => {
          delays.delete(delay);
          reject(signal.reason);
        });
      }),
    async advance(ms) {
      const end = now + ms;
      await settled();
      for (;;) {
        const next = [...delays].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        delays.delete(next);
        now = Math.max(now, next.at);
        next.resolve();
        await settled();
      }
      now = end;
      await settled();
    },
    get waiting() {
      return delays.size;
    },
  };
}

/** Lets everything that is ready go on. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
