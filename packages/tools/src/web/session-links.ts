import { LRUCache } from "lru-cache";
import { findLinks, getPageKey } from "./links.ts";

/** The URLs that appeared in each session. The model did not invent them. */
export interface SessionLinks {
  /** Adds the URLs in a text and any additional ones. */
  add(sessionKey: string, text: string, addresses?: readonly string[]): void;
  has(sessionKey: string, address: string): boolean;
}

export interface SessionLinksOptions {
  /** Maximum number of sessions. The least recently used ones are removed. */
  readonly maxSessions: number;
  /** Maximum number of URLs per session. The oldest ones are removed. */
  readonly maxLinks: number;
}

/** Creates an in-memory list of URLs by session. */
export function createSessionLinks({ maxSessions, maxLinks }: SessionLinksOptions): SessionLinks {
  const sessions = new LRUCache<string, Set<string>>({ max: maxSessions });
  return {
    add(sessionKey, text, addresses = []) {
      const found = [...findLinks(text, maxLinks), ...addresses];
      if (found.length === 0) return;
      const links = sessions.get(sessionKey) ?? new Set();
      sessions.set(sessionKey, links);
      for (const address of found) {
        const key = getPageKey(address);
        links.delete(key);
        links.add(key);
      }
      for (const key of [...links].slice(0, Math.max(0, links.size - maxLinks))) links.delete(key);
    },
    has: (sessionKey, address) => sessions.peek(sessionKey)?.has(getPageKey(address)) === true,
  };
}

/** Creates the list of URLs on pages that runs have read. */
export function createPageLinks(): SessionLinks {
  return createSessionLinks({ maxSessions: 200, maxLinks: 2_000 });
}
