import { createHash, randomBytes } from "node:crypto";
import type { AccessStore, WebSession } from "./access.ts";

/** A session that is not used for so long is over. */
const IDLE_MS = 12 * 60 * 60_000;
/** So is one that is as old as this, however it is used. */
export const LONGEST_MS = 7 * 24 * 60 * 60_000;
/** Use is written down at most so often. */
const NOTED_MS = 10 * 60_000;

/** Sessions of browsers. They live in the store, so that they end there: a copied cookie is worth nothing then. */
export interface Sessions {
  /** What the cookie is to hold. */
  begin(tokenHash: string): Promise<string>;
  /** The session of a cookie, unless it is over. */
  find(cookie: string): Promise<WebSession | undefined>;
  /** The session of an id, unless it is over. */
  get(id: string): Promise<WebSession | undefined>;
  /** The session is being used, and goes on. */
  touch(session: WebSession): Promise<void>;
  end(id: string): Promise<void>;
}

export function createSessions(store: AccessStore["sessions"], now: () => number): Sessions {
  const open = async (id: string): Promise<WebSession | undefined> => {
    const session = await store.find(id);
    if (session === undefined) return undefined;
    return now() - session.usedAt < IDLE_MS && now() - session.createdAt < LONGEST_MS ? session : undefined;
  };
  return {
    async begin(tokenHash) {
      const cookie = randomBytes(32).toString("base64url");
      await store.forget(now() - IDLE_MS, now() - LONGEST_MS);
      await store.open({ id: idOf(cookie), tokenHash, createdAt: now(), usedAt: now() });
      return cookie;
    },
    find: (cookie) => open(idOf(cookie)),
    get: open,
    async touch({ id, usedAt }) {
      if (now() - usedAt >= NOTED_MS) await store.used(id, now());
    },
    end: (id) => store.end(id),
  };
}

function idOf(cookie: string): string {
  return createHash("sha256").update(cookie).digest("hex");
}
