/** Distinguishes an orderly shutdown from one caused by an error. */
export interface ShutdownWatch {
  /** Reports that the service cannot continue, and passes the error to the host. */
  readonly fail: (error: Error) => void;
  /** Marks the shutdown as requested. */
  request(): void;
  isRequested(): boolean;
  /** Returns true if an error may have caused the shutdown: a fatal one, or an uncaught exception shortly before. */
  isCausedByError(): boolean;
  /** Stops watching for uncaught exceptions. */
  close(): void;
}

/** Maximum time in milliseconds in which a host stops a service after an uncaught exception. */
const EXCEPTION_WINDOW_MS = 10_000;

/**
 * Watches for uncaught exceptions, regardless of how the host handles them. After an exception, a host stops the
 * service with the same function as in an orderly stop. Without this watch, a message that crashes every process would
 * be retried forever.
 */
export function watchShutdown(onFatal: (error: Error) => void, now: () => number): ShutdownWatch {
  let isFatal = false;
  let requestedAt: number | undefined;
  let exceptionAt = Number.NEGATIVE_INFINITY;
  const onException = (): void => {
    exceptionAt = now();
  };
  process.on("uncaughtExceptionMonitor", onException);
  return {
    fail(error) {
      isFatal = true;
      onFatal(error);
    },
    request() {
      requestedAt ??= now();
    },
    isRequested: () => requestedAt !== undefined,
    isCausedByError: () => isFatal || exceptionAt >= (requestedAt ?? 0) - EXCEPTION_WINDOW_MS,
    close: () => void process.off("uncaughtExceptionMonitor", onException),
  };
}
