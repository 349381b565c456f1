/** Lets runs that may be what ends the process go on one after the other. */
export interface Suspects {
  /** Does `work` when it is its turn; not at all, with `undefined`, where `signal` ended before. */
  alone<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined>;
}

/**
 * Every run that was under way when a process died counts that death, though only one of them may have caused it. So
 * those that two processes died under go on one at a time: a third death then tells which it was, and the others are
 * not set aside with it. One that takes longer than `aloneMs` has the next one beside it.
 */
export function createSuspects(aloneMs: number): Suspects {
  let last: Promise<unknown> = Promise.resolve();
  return {
    async alone(signal, work) {
      const before = last;
      const ended = Promise.withResolvers<void>();
      let patience: NodeJS.Timeout | undefined;
      last = before.then(() =>
        Promise.race([
          ended.promise,
          new Promise((resolve) => {
            patience = setTimeout(resolve, aloneMs);
            patience.unref();
          }),
        ]),
      );
      try {
        await untilAborted(before, signal);
        return signal.aborted ? undefined : await work();
      } finally {
        ended.resolve();
        clearTimeout(patience);
      }
    },
  };
}

function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve();
  const aborted = Promise.withResolvers<void>();
  const onAbort = (): void => aborted.resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  return Promise.race([work, aborted.promise]).finally(() => signal.removeEventListener("abort", onAbort));
}
