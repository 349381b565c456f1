/** How a service ends: on request, or by a fault. */
export interface End {
  /** The service cannot go on: it stops because of it. */
  readonly fatal: (error: Error) => void;
  /** It was stopped on request. */
  ask(): void;
  isAsked(): boolean;
  /** Whether the stop may have come of a fault. */
  isByFault(): boolean;
  close(): void;
}

/** A host that ends an embedded service because of an exception does so within this time, in milliseconds. */
const BEFORE_MS = 10_000;

/**
 * Sees every uncaught exception, whatever the host does about it: a host that stops a service then calls the same
 * function as one that simply ends, and work that ends every process must not be tried for ever.
 */
export function watchEnd(onFatal: (error: Error) => void, now: () => number): End {
  let isFatal = false;
  let askedAt: number | undefined;
  let exceptionAt = Number.NEGATIVE_INFINITY;
  const onException = (): void => {
    exceptionAt = now();
  };
  process.on("uncaughtExceptionMonitor", onException);
  return {
    fatal(error) {
      isFatal = true;
      onFatal(error);
    },
    ask() {
      askedAt ??= now();
    },
    isAsked: () => askedAt !== undefined,
    isByFault: () => isFatal || exceptionAt >= (askedAt ?? 0) - BEFORE_MS,
    close: () => void process.off("uncaughtExceptionMonitor", onException),
  };
}
