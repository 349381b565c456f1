/** Keys that may start a run, in the order in which they do. */
export interface FairQueue {
  /** Puts a key at the end of its owner's. */
  push(owner: string, key: string): void;
  /** Takes out the next key of those that may start; the others keep their places. */
  shift(mayStart: (key: string) => boolean): string | undefined;
}

/**
 * Owners take turns, and so do the keys of each: an owner with many keys makes others wait no longer than one with a
 * single key does.
 */
export function createFairQueue(): FairQueue {
  /** In the order of their turns; nobody without keys is kept. */
  const owners = new Map<string, string[]>();
  return {
    push(owner, key) {
      const keys = owners.get(owner);
      if (keys === undefined) owners.set(owner, [key]);
      else keys.push(key);
    },
    shift(mayStart) {
      for (const [owner, keys] of owners) {
        const at = keys.findIndex(mayStart);
        if (at < 0) continue;
        const [key] = keys.splice(at, 1);
        owners.delete(owner);
        if (keys.length > 0) owners.set(owner, keys);
        return key;
      }
      return undefined;
    },
  };
}
