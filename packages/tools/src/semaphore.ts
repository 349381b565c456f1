import type { Role } from "./types.ts";

/** Limits the number of concurrent tasks. Waiting tasks start in order, owners' tasks before all others. */
export interface Semaphore {
  /**
   * Waits for a permit. Resolves with the function that releases it.
   *
   * @param role the role that the task is for. Default: `member`.
   * @throws the signal's reason as soon as the signal is aborted
   */
  acquire(signal: AbortSignal, role?: Role): Promise<() => void>;
}

/** Creates a semaphore. Unlike with p-limit, a task can stop waiting when its signal is aborted. */
export function createSemaphore(limit: number): Semaphore {
  let acquired = 0;
  const waitingOwners = new Set<() => void>();
  const waitingOthers = new Set<() => void>();

  const take = (): (() => void) => {
    acquired += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      acquired -= 1;
      const [next] = [...waitingOwners, ...waitingOthers];
      next?.();
    };
  };

  return {
    async acquire(signal, role = "member") {
      signal.throwIfAborted();
      if (acquired < limit) return take();
      const waiting = role === "owner" ? waitingOwners : waitingOthers;
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
