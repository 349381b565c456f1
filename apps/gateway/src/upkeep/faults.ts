/** Tells a stop that somebody wants from one that a fault brings about. */
export interface Faults {
  /** The gateway cannot go on: it stops because of it. */
  note(): void;
  /** Whether a stop that began then may have come of a fault. */
  since(stopAt: number): boolean;
  close(): void;
}

/** A host that ends an embedded gateway because of an exception does so within this time, in milliseconds. */
const BEFORE_MS = 10_000;

/**
 * Sees every exception that nobody caught, whatever the host does about it: a host that stops its gateway then calls the
 * same function as one that simply ends, and a message whose run ends every process must not be tried for ever.
 */
export function watchFaults(now: () => number): Faults {
  let fatal = false;
  let last = Number.NEGATIVE_INFINITY;
  const onException = (): void => {
    last = now();
  };
  process.on("uncaughtExceptionMonitor", onException);
  return {
    note() {
      fatal = true;
    },
    since: (stopAt) => fatal || last >= stopAt - BEFORE_MS,
    close: () => void process.off("uncaughtExceptionMonitor", onException),
  };
}
