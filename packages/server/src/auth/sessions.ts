import { createHmac } from "node:crypto";
import type { AccessStore, WebSession } from "@signalbox/store/types";
import { createSecret } from "./secrets.ts";

/** A session expires after this time without use. */
const IDLE_MS = 12 * 60 * 60_000;
/** A session expires after this time even if it is used. */
export const MAX_AGE_MS = 7 * 24 * 60 * 60_000;
/** Minimum time between two updates of `usedAt` in the store. */
const TOUCH_MS = 10 * 60_000;

/** The credential of a browser session. Each half is useless without the other. */
export interface SessionHalves {
  readonly cookie: string;
  /** Sent by the page itself in a header. Unlike the cookie, it never reaches servers on other ports of the host. */
  readonly key: string;
}

/** Browser sessions. They are stored on the server, so signing out also invalidates a copied cookie. */
export interface Sessions {
  begin(tokenHash: string): Promise<SessionHalves>;
  /** Returns the session of both halves, unless it has expired. */
  find(halves: SessionHalves): Promise<WebSession | undefined>;
  /** Returns the session with this id, unless it has expired. */
  get(id: string): Promise<WebSession | undefined>;
  /** Extends the session. Store errors, such as a full disk, are ignored. */
  touch(session: WebSession): Promise<void>;
  end(id: string): Promise<void>;
}

export function createSessions(store: AccessStore["sessions"], now: () => number): Sessions {
  const get = async (id: string): Promise<WebSession | undefined> => {
    const session = await store.find(id);
    if (session === undefined) return undefined;
    return now() - session.usedAt < IDLE_MS && now() - session.createdAt < MAX_AGE_MS ? session : undefined;
  };
  return {
    async begin(tokenHash) {
      const halves = { cookie: createSecret(), key: createSecret() };
      await store.forget(now() - IDLE_MS, now() - MAX_AGE_MS);
      await store.open({ id: createId(halves), tokenHash, createdAt: now(), usedAt: now() });
      return halves;
    },
    find: (halves) => get(createId(halves)),
    get,
    async touch({ id, usedAt }) {
      if (now() - usedAt >= TOUCH_MS) await store.used(id, now()).catch(() => {});
    },
    end: (id) => store.end(id),
  };
}

/** Derives the id from both halves. The lookup compares no secrets, so its timing reveals nothing about a guess. */
function createId({ cookie, key }: SessionHalves): string {
  return createHmac("sha256", key).update(cookie).digest("hex");
}
