/** Makes something once of each object that never changes, so that a request costs what is new in its history. */
export function oncePer<K extends object, V extends object | string | number>(
  make: (key: K) => V,
): (key: K) => V {
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
