import type { Clock } from "@signalbox/lanes";

/** Time that passes only when it is told to. */
export interface FakeClock extends Clock {
  /** Lets so much time pass, with everything that is due in it. */
  pass(ms: number): Promise<void>;
  /** Somebody sets the clock, or the machine slept: nothing happens in between. */
  set(now: number): void;
}

export function fakeClock(start: number): FakeClock {
  let now = start;
  let timers: { readonly at: number; readonly task: () => void }[] = [];
  /** Lets everything that was begun come to its next wait. */
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    now: () => now,
    after(ms, task) {
      const timer = { at: now + ms, task };
      timers.push(timer);
      return {
        cancel() {
          timers = timers.filter((one) => one !== timer);
        },
      };
    },
    async pass(ms) {
      const end = now + ms;
      await settle();
      for (;;) {
        const next = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers = timers.filter((one) => one !== next);
        now = Math.max(now, next.at);
        next.task();
        await settle();
      }
      now = end;
      await settle();
    },
    set(at) {
      // What waits goes on waiting for as long as it would have.
      timers = timers.map((timer) => ({ ...timer, at: timer.at - now + at }));
      now = at;
    },
  };
}
