/** The clock that waiting work uses. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `task` once, after so many milliseconds. */
  after(ms: number, task: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** What `setTimeout` takes; a longer time would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The machine's. What waits does not keep the process alive. */
export const systemClock: Clock = machineClock(false);

/** The machine's, for starts and stops: what waits keeps the process alive. */
export const awaitedClock: Clock = machineClock(true);

function machineClock(keepsAlive: boolean): Clock {
  return {
    now: () => Date.now(),
    after(ms, task) {
      const timeout = setTimeout(task, Math.min(ms, LONGEST_MS));
      if (!keepsAlive) timeout.unref();
      return { cancel: () => clearTimeout(timeout) };
    },
  };
}

/** Resolves after so many milliseconds, or as soon as the signal is aborted. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = clock.after(ms, resolve);
  const onAbort = (): void => resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  return promise.finally(() => {
    timer.cancel();
    signal.removeEventListener("abort", onAbort);
  });
}
