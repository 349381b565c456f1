import type { Clock } from "../contract/definition.ts";

/** A clock that a test turns; pauses end when it is turned past them. */
export interface AdjustableClock extends Clock {
  turn(ms: number): void;
  /** How many pauses have not ended yet. */
  readonly waiting: number;
}

export function createAdjustableClock(start: number = Date.now()): AdjustableClock {
  let now = start;
  const waiting = new Set<{ readonly at: number; readonly go: () => void }>();
  return {
    now: () => now,
    delay(ms, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const pause = { at: now + ms, go: resolve };
      const give = (): void => {
        waiting.delete(pause);
        reject(signal?.reason);
      };
      waiting.add(pause);
      signal?.addEventListener("abort", give, { once: true });
      if (signal?.aborted === true) give();
      return promise;
    },
    turn(ms) {
      now += ms;
      for (const pause of waiting) {
        if (pause.at > now) continue;
        waiting.delete(pause);
        pause.go();
      }
    },
    get waiting() {
      return waiting.size;
    },
  };
}
