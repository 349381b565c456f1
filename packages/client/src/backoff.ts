/** Returns the delay before an attempt in milliseconds: 500 doubling to 15,000, minus up to 50 % jitter. */
export function defaultBackoff(attempt: number): number {
  return Math.min(15_000, 500 * 2 ** (attempt - 1)) * (1 - Math.random() / 2);
}

/** Waits for `ms` milliseconds, or until the signal is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}
