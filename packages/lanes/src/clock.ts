/** Time and timers. Tests pass a manual clock. */
export interface Clock {
  /** Returns the current time in milliseconds since the epoch. */
  now(): number;
  /** Calls `task` once, after `ms` milliseconds. */
  after(ms: number, task: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** Maximum timer delay of Node.js. `setTimeout` fires immediately for a longer one. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The system clock. Its timers do not keep the process alive. */
export const systemClock: Clock = createSystemClock(false);

/** The system clock for starting and stopping. Its timers keep the process alive. */
export const keepAliveClock: Clock = createSystemClock(true);

function createSystemClock(keepAlive: boolean): Clock {
  return {
    now: () => Date.now(),
    after(ms, task) {
      const timeout = setTimeout(task, Math.min(ms, MAX_TIMER_MS));
      if (!keepAlive) timeout.unref();
      return { cancel: () => clearTimeout(timeout) };
    },
  };
}

/** Resolves after `ms` milliseconds, or as soon as the signal aborts. */
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
