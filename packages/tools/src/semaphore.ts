/** Lets only so many pieces of work go on at a time; the others wait in order. */
export interface Semaphore {
  /**
   * Resolves when there is a place, to what gives it back.
   * @throws what the signal was aborted with, at once
   */
  acquire(signal: AbortSignal): Promise<() => void>;
}

export function createSemaphore(limit: number): Semaphore {
  let taken = 0;
  const waiting = new Set<() => void>();

  const take = (): (() => void) => {
    taken += 1;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      taken -= 1;
      const [next] = waiting;
      next?.();
    };
  };

  return {
    async acquire(signal) {
      signal.throwIfAborted();
      if (taken < limit) return take();
      const given = Promise.withResolvers<() => void>();
      const leave = (): void => {
        waiting.delete(start);
        signal.removeEventListener("abort", onAbort);
      };
      const start = (): void => {
        leave();
        given.resolve(take());
      };
      const onAbort = (): void => {
        leave();
        given.reject(signal.reason);
      };
      waiting.add(start);
      signal.addEventListener("abort", onAbort, { once: true });
      return given.promise;
    },
  };
}
