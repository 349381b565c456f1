/** Starts a timer that calls `task`. Returns a function that cancels it. */
export type StartTimer = (ms: number, task: () => void) => () => void;

const startSystemTimer: StartTimer = (ms, task) => {
  const timer = setTimeout(task, ms);
  return () => clearTimeout(timer);
};

/**
 * Runs an operation with a time limit in milliseconds. When the limit expires, rejects and aborts the operation's
 * signal.
 */
export type TimeLimit = <T>(ms: number, work: (signal: AbortSignal) => T | Promise<T>) => Promise<T>;

export function createTimeLimit(startTimer: StartTimer = startSystemTimer): TimeLimit {
  return async (ms, work) => {
    const late = new AbortController();
    const timeout = Promise.withResolvers<never>();
    const cancel = startTimer(ms, () => {
      const error = new Error(`it took longer than ${ms} ms`);
      late.abort(error);
      timeout.reject(error);
    });
    try {
      return await Promise.race([work(late.signal), timeout.promise]);
    } finally {
      cancel();
    }
  };
}
