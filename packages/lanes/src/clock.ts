/** Time, as far as work waits for it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `task` once, after so many milliseconds. What waits does not keep the process alive. */
  after(ms: number, task: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** What `setTimeout` takes; a longer time would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, task) {
    const timeout = setTimeout(task, Math.min(ms, LONGEST_MS));
    timeout.unref();
    return { cancel: () => clearTimeout(timeout) };
  },
};

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
