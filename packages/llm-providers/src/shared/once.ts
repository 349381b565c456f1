/** Makes something once of each object that never changes. */
export function oncePer<K extends object, V extends object>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    let value = made.get(key);
    if (value === undefined) {
      value = make(key);
      made.set(key, value);
    }
    return value;
  };
}

/**
 * Makes something of each message of a history. A request has mostly the history of the one before and something behind
 * it: what stood at the same place, of the last history with the same first message, is not made again.
 */
export function oncePerMessage<M extends object, V>(
  make: (message: M) => V,
): (history: readonly M[]) => readonly V[] {
  const histories = new WeakMap<M, readonly { readonly message: M; readonly made: V }[]>();
  return (history) => {
    const [first] = history;
    if (first === undefined) return [];
    const before = histories.get(first);
    const entries = history.map((message, at) => {
      const kept = before?.[at];
      return kept?.message === message ? kept : { message, made: make(message) };
    });
    histories.set(first, entries);
    return entries.map(({ made }) => made);
  };
}

/** Makes a value at the first call and keeps it; one that could not be made is made again at the next call. */
export function keptOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () => {
    kept ??= make().catch((error: unknown) => {
      kept = undefined;
      throw error;
    });
    return kept;
  };
}
