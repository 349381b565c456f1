import { linksIn, pageKey } from "./web/links.ts";

/** Addresses that stand in the messages of each conversation: the model did not think of them. */
export interface GivenLinks {
  add(sessionKey: string, text: string): void;
  has(sessionKey: string, url: string): boolean;
}

const MAX_CONVERSATIONS = 500;
const MAX_LINKS_OF_ONE = 500;

/** Remembers the latest 500 links of each of the 500 conversations that were active last. */
export function createGivenLinks(): GivenLinks {
  const linksOf = new Map<string, Set<string>>();
  return {
    add(sessionKey, text) {
      const links = linksIn(text, MAX_LINKS_OF_ONE);
      if (links.length === 0) return;
      const all = [...(linksOf.get(sessionKey) ?? []), ...links.map(pageKey)];
      linksOf.delete(sessionKey);
      linksOf.set(sessionKey, new Set(all.slice(-MAX_LINKS_OF_ONE)));
      const [oldest] = linksOf.keys();
      if (linksOf.size > MAX_CONVERSATIONS && oldest !== undefined) linksOf.delete(oldest);
    },
    has: (sessionKey, url) => linksOf.get(sessionKey)?.has(pageKey(url)) === true,
  };
}
