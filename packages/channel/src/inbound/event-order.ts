/** Keeps events with the same key in arrival order, even if their preparation takes different amounts of time. */
export interface Order {
  /** Returns the result of `ready` after all earlier promises of the same key have settled. */
  next<T>(key: string, ready: Promise<T>): Promise<T>;
}

export function createOrder(): Order {
  /** The latest promise of each key, until it settles. */
  const last = new Map<string, Promise<unknown>>();
  return {
    next(key, ready) {
      const before = last.get(key) ?? Promise.resolve();
      const turn = before.then(
        () => ready,
        () => ready,
      );
      // `turn` reports a failure that occurs before it is this promise's turn.
      ready.catch(() => {});
      last.set(key, turn);
      const end = (): void => {
        if (last.get(key) === turn) last.delete(key);
      };
      turn.then(end, end);
      return turn;
    },
  };
}
