/** Limits the number of concurrent tasks. Waiting tasks start in order. */
export interface Semaphore {
  /**
   * Waits for a permit. Resolves with the function that releases it.
   *
   * @throws the signal's reason as soon as the signal is aborted
   */
  acquire(signal: AbortSignal): Promise<() => void>;
}

/** Creates a semaphore. Unlike p-limit, a task can stop waiting when its signal is aborted. */
export function createSemaphore(limit: number): Semaphore {
  let acquired = 0;
  const waiting = new Set<() => void>();

  const take = (): (() => void) => {
    acquired += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      acquired -= 1;
      const [next] = waiting;
      next?.();
    };
  };

  return {
    async acquire(signal) {
      signal.throwIfAborted();
      if (acquired < limit) return take();
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const stopWaiting = (): void => {
        waiting.delete(start);
        signal.removeEventListener("abort", onAbort);
      };
      const start = (): void => {
        stopWaiting();
        resolve(take());
      };
      const onAbort = (): void => {
        stopWaiting();
        reject(signal.reason);
      };
      waiting.add(start);
      signal.addEventListener("abort", onAbort, { once: true });
      return promise;
    },
  };
}
