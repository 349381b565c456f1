/** The sessions that may start a run, in the order in which they do. */
export interface Line {
  /** Puts a session at the end of its owner's. */
  push(owner: string, sessionKey: string): void;
  /** Takes out the session that is next of those that may start; the others keep their places. */
  shift(mayStart: (sessionKey: string) => boolean): string | undefined;
}

/**
 * Owners take turns, and so do the sessions of each: somebody with many sessions makes nobody else wait longer than one
 * with a single session does.
 */
export function createLine(): Line {
  /** In the order of their turns; nobody without sessions is kept. */
  const owners = new Map<string, string[]>();
  return {
    push(owner, sessionKey) {
      const sessions = owners.get(owner);
      if (sessions === undefined) owners.set(owner, [sessionKey]);
      else sessions.push(sessionKey);
    },
    shift(mayStart) {
      for (const [owner, sessions] of owners) {
        const at = sessions.findIndex(mayStart);
        if (at < 0) continue;
        const [sessionKey] = sessions.splice(at, 1);
        owners.delete(owner);
        if (sessions.length > 0) owners.set(owner, sessions);
        return sessionKey;
      }
      return undefined;
    },
  };
}
