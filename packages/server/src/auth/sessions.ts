import { createHmac, randomBytes } from "node:crypto";
import type { AccessStore, WebSession } from "./access.ts";

/** A session that is not used for so long is over. */
const IDLE_MS = 12 * 60 * 60_000;
/** So is one that is as old as this, however it is used. */
export const LONGEST_MS = 7 * 24 * 60 * 60_000;
/** Use is written down at most so often. */
const NOTED_MS = 10 * 60_000;

/** What a browser shows its session by: neither half is worth anything without the other. */
export interface SessionHalves {
  readonly cookie: string;
  /** What the page sends itself. Servers on other ports, to which the browser shows the cookie, never see it. */
  readonly key: string;
}

/** Sessions of browsers. They live in the store, so that they end there: a copied cookie is worth nothing then. */
export interface Sessions {
  begin(tokenHash: string): Promise<SessionHalves>;
  /** The session of both halves, unless it is over. */
  find(halves: SessionHalves): Promise<WebSession | undefined>;
  /** The session of an id, unless it is over. */
  get(id: string): Promise<WebSession | undefined>;
  /** The session is being used, and goes on; where that cannot be written down, as on a full disk, only for now. */
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
      const halves = { cookie: randomSecret(), key: randomSecret() };
      await store.forget(now() - IDLE_MS, now() - LONGEST_MS);
      await store.open({ id: idOf(halves), tokenHash, createdAt: now(), usedAt: now() });
      return halves;
    },
    find: (halves) => open(idOf(halves)),
    get: open,
    async touch({ id, usedAt }) {
      if (now() - usedAt >= NOTED_MS) await store.used(id, now()).catch(() => {});
    },
    end: (id) => store.end(id),
  };
}

function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** A hash of both halves finds the session: there is nothing to compare, so no time tells how near a guess came. */
function idOf({ cookie, key }: SessionHalves): string {
  return createHmac("sha256", key).update(cookie).digest("hex");
}
