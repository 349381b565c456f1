/** Keeps events with the same key in arrival order, however long each takes to prepare. */
export interface Order {
  /** What `ready` gives, once all that came before it under the same key is ready or has failed. */
  next<T>(key: string, ready: Promise<T>): Promise<T>;
}

export function createOrder(): Order {
  /** What came last under each key, until it goes on. */
  const last = new Map<string, Promise<unknown>>();
  return {
    next(key, ready) {
      const before = last.get(key) ?? Promise.resolve();
      const turn = before.then(
        () => ready,
        () => ready,
      );
      // Where it fails before its turn, whoever waits for that hears of it then.
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
