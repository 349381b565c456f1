import { linksIn, samePage } from "@signalbox/tools";

/** Addresses that stand in the messages of each conversation. */
export interface GivenLinks {
  add(sessionKey: string, text: string): void;
  has(sessionKey: string, url: string): boolean;
}

/** How many conversations' links are remembered, and how many of each. */
const GIVEN = { conversations: 500, links: 500 };

export function createGivenLinks(): GivenLinks {
  const known = new Map<string, Set<string>>();
  return {
    add(sessionKey, text) {
      const links = linksIn(text, GIVEN.links);
      if (links.length === 0) return;
      const all = [...(known.get(sessionKey) ?? []), ...links.map(samePage)];
      known.delete(sessionKey);
      known.set(sessionKey, new Set(all.slice(-GIVEN.links)));
      const [oldest] = known.keys();
      if (known.size > GIVEN.conversations && oldest !== undefined) known.delete(oldest);
    },
    has: (sessionKey, url) => known.get(sessionKey)?.has(samePage(url)) === true,
  };
}
