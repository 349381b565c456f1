import type { Clock } from "@signalbox/channel";

/** A clock that stands still until a test advances it. */
export interface ManualClock extends Clock {
  /** Advances the time, delay by delay, and lets everything that becomes ready run. */
  advance(ms: number): Promise<void>;
  /** Lets everything that is ready run. */
  settle(): Promise<void>;
  /** Number of pending delays. */
  readonly waiting: number;
}

interface Delay {
  readonly at: number;
  readonly resolve: () => void;
}

/** How long `settle` waits at most while something is busy, in real milliseconds. */
const MAX_BUSY_MS = 500;

/** @param isBusy whether a call that does not depend on this clock is pending */
export function createManualClock(isBusy: () => boolean = () => false): ManualClock {
  let now = 1_000_000;
  const delays = new Set<Delay>();

  async function settle(): Promise<void> {
    const limit = performance.now() + MAX_BUSY_MS;
    for (let idle = 0; idle < 3; idle++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isBusy() && performance.now() < limit) idle = -1;
    }
  }

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
    settle,
    async advance(ms) {
      const end = now + ms;
      await settle();
      for (;;) {
        const next = [...delays].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        delays.delete(next);
        now = Math.max(now, next.at);
        next.resolve();
        await settle();
      }
      now = end;
      await settle();
    },
    get waiting() {
      return delays.size;
    },
  };
}
