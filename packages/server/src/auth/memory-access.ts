import type { AccessStore, NamedToken, WebSession } from "./access.ts";

/** Creates a store that keeps tokens and sessions in memory. */
export function createMemoryAccess(): AccessStore {
  const tokens = new Map<string, NamedToken>();
  const sessions = new Map<string, WebSession>();
  const named = (name: string) => [...tokens.values()].find((token) => token.name === name);
  return {
    tokens: {
      async add(token) {
        if (named(token.name) !== undefined) return false;
        tokens.set(token.hash, token);
        return true;
      },
      find: async (hash) => tokens.get(hash),
      named: async (name) => named(name),
      async used(hash, at) {
        const token = tokens.get(hash);
        if (token !== undefined) tokens.set(hash, { ...token, usedAt: at });
      },
      list: async () => [...tokens.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      async revoke(name) {
        const token = named(name);
        if (token === undefined) return false;
        tokens.delete(token.hash);
        for (const { id, tokenHash } of sessions.values()) if (tokenHash === token.hash) sessions.delete(id);
        return true;
      },
    },
    sessions: {
      async open(session) {
        sessions.set(session.id, session);
      },
      find: async (id) => sessions.get(id),
      async used(id, at) {
        const session = sessions.get(id);
        if (session !== undefined) sessions.set(id, { ...session, usedAt: at });
      },
      async end(id) {
        sessions.delete(id);
      },
      async forget(usedBefore, openedBefore) {
        for (const { id, usedAt, createdAt } of sessions.values())
          if (usedAt < usedBefore || createdAt < openedBefore) sessions.delete(id);
      },
    },
  };
}
