import type { Clock } from "../clock.ts";

/** A clock that stands still until a test advances it. */
export interface ManualClock extends Clock {
  /** Advances the clock and calls due timers in order. Pending promise callbacks run before each timer. */
  advance(ms: number): Promise<void>;
  /** Returns the number of timers that have not fired. */
  pending(): number;
}

/**
 * @param start milliseconds since the epoch; default 0
 */
export function createManualClock(start = 0): ManualClock {
  let now = start;
  const due = new Set<{ readonly at: number; readonly task: () => void }>();
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    now: () => now,
    after(ms, task) {
      const call = { at: now + ms, task };
      due.add(call);
      return { cancel: () => void due.delete(call) };
    },
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        await settled();
        const next = [...due].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        due.delete(next);
        now = Math.max(now, next.at);
        next.task();
      }
      now = end;
    },
    pending: () => due.size,
  };
}
