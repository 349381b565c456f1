import type { Hints } from "./types/hints.ts";

/** Creates hints that reach only this process. */
export function createLocalHints(): Hints {
  const listeners = new Set<(topic: string) => void>();
  return {
    send(topic) {
      for (const listener of listeners) listener(topic);
    },
    listen(onHint) {
      listeners.add(onHint);
      return () => listeners.delete(onHint);
    },
  };
}
