/** Lets only so many pieces of work go on at a time; the others wait in order. */
export interface Turns {
  /**
   * Resolves when it is one's turn, to what ends it.
   * @throws what the signal was aborted with, at once
   */
  enter(signal: AbortSignal): Promise<() => void>;
}

export function createTurns(most: number): Turns {
  let taken = 0;
  const waiting = new Set<() => void>();

  const turn = (): (() => void) => {
    taken += 1;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      taken -= 1;
      const [next] = waiting;
      next?.();
    };
  };

  return {
    async enter(signal) {
      signal.throwIfAborted();
      if (taken < most) return turn();
      const given = Promise.withResolvers<() => void>();
      const leave = (): void => {
        waiting.delete(start);
        signal.removeEventListener("abort", onAbort);
      };
      const start = (): void => {
        leave();
        given.resolve(turn());
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
