/** Keys that are ready to start a run, in round-robin order of their owners. */
export interface FairQueue {
  /** Appends a key to its owner's queue. */
  push(owner: string, key: string): void;
  /** Removes and returns the next key that may start. The other keys keep their positions. */
  shift(mayStart: (key: string) => boolean): string | undefined;
}

/** Creates a queue in which owners take turns, so an owner with many keys does not delay one with a single key. */
export function createFairQueue(): FairQueue {
  /** Owners in the order of their turns. Owners without keys are removed. */
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
