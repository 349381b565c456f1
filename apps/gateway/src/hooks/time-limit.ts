/** Calls `task` after so many milliseconds; what it gives takes that back. */
export type StartTimer = (ms: number, task: () => void) => () => void;

const startSystemTimer: StartTimer = (ms, task) => {
  const timer = setTimeout(task, ms);
  return () => clearTimeout(timer);
};

/** Does work that may take so long. Rejects when its time is over, and aborts the work's signal then. */
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
