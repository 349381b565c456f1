import { linksIn, pageKey } from "./links.ts";

/** Addresses that stand on pages which each session has read: whoever wrote those thought of them, not the model. */
export interface SeenLinks {
  add(sessionKey: string, addresses: readonly string[], text: string): void;
  has(sessionKey: string, address: string): boolean;
}

/** How many sessions' pages are remembered, and how many links of each: those that were seen last. */
const SESSIONS = 200;
const LINKS = 2_000;

/** Remembers for as long as the process runs; sessions that are longest unused go first. */
export function createSeenLinks(): SeenLinks {
  const seen = new Map<string, Set<string>>();
  return {
    add(sessionKey, addresses, text) {
      const links = seen.get(sessionKey) ?? new Set();
      seen.delete(sessionKey);
      seen.set(sessionKey, links);
      for (const address of [...linksIn(text, LINKS), ...addresses]) {
        const key = pageKey(address);
        links.delete(key);
        links.add(key);
      }
      for (const key of [...links].slice(0, Math.max(0, links.size - LINKS))) links.delete(key);
      const [oldest] = seen.keys();
      if (seen.size > SESSIONS && oldest !== undefined) seen.delete(oldest);
    },
    has: (sessionKey, address) => seen.get(sessionKey)?.has(pageKey(address)) === true,
  };
}
