import { createHmac } from "node:crypto";
import type { AccessStore, KvStore, WebSession } from "@signalbox/store/types";
import { z } from "zod";
import { createSecret } from "./secrets.ts";

/** A session expires after this time without use. */
const IDLE_MS = 12 * 60 * 60_000;
/** A session expires after this time even if it is used. */
export const MAX_AGE_MS = 7 * 24 * 60 * 60_000;
/** Minimum time between two updates of `usedAt` in the store. */
const TOUCH_MS = 10 * 60_000;
const NAMESPACE = "web-sessions";
const MAX_USER_AGENT_CHARS = 300;

/** The credential of a browser session. Each half is useless without the other. */
export interface SessionHalves {
  readonly cookie: string;
  /** Sent by the page itself in a header. Unlike the cookie, it never reaches servers on other ports of the host. */
  readonly key: string;
}

export const sessionDetailsSchema = z.object({
  method: z.enum(["token", "link", "oidc", "proxy"]),
  /** Address of the browser when it signed in. */
  remote: z.string().optional(),
  userAgent: z.string().optional(),
  /**
   * Time at which the person entered credentials at the OpenID provider, in milliseconds since the epoch. 0 if the
   * provider did not report it.
   */
  authenticatedAt: z.number().optional(),
  /** Id of the session at the OpenID provider. */
  sid: z.string().optional(),
  /** The provider requires it to end its own session. It opens nothing at this gateway. */
  idToken: z.string().optional(),
});
/** Facts about a session that the list of sessions and the sign-out need. */
export type SessionDetails = z.infer<typeof sessionDetailsSchema>;

/** Browser sessions. They are stored on the server, so signing out also invalidates a copied cookie. */
export interface Sessions {
  begin(tokenHash: string, details: SessionDetails): Promise<SessionHalves>;
  /** Returns the session of both halves, unless it has expired. */
  find(halves: SessionHalves): Promise<WebSession | undefined>;
  /** Returns the session with this id, unless it has expired. */
  get(id: string): Promise<WebSession | undefined>;
  /** Returns undefined if the session was opened by an earlier version of the gateway. */
  details(id: string): Promise<SessionDetails | undefined>;
  /** Returns the sessions that have not expired, the latest use first. */
  list(): Promise<readonly WebSession[]>;
  /** Extends the session. Store errors, such as a full disk, are ignored. */
  touch(session: WebSession): Promise<void>;
  end(id: string): Promise<void>;
}

/** @param getMaxAge returns the maximum age of the sessions of a token, in milliseconds */
export function createSessions(
  { sessions: store, kv }: { readonly sessions: AccessStore["sessions"]; readonly kv: SessionValues },
  now: () => number,
  getMaxAge: (tokenHash: string) => number = () => MAX_AGE_MS,
): Sessions {
  const isLive = ({ tokenHash, createdAt, usedAt }: WebSession): boolean =>
    now() - usedAt < IDLE_MS && now() - createdAt < Math.min(MAX_AGE_MS, getMaxAge(tokenHash));
  const get = async (id: string): Promise<WebSession | undefined> => {
    const session = await store.find(id);
    return session !== undefined && isLive(session) ? session : undefined;
  };
  return {
    async begin(tokenHash, { userAgent, ...details }) {
      const halves = { cookie: createSecret(), key: createSecret() };
      const id = createId(halves);
      await store.forget(now() - IDLE_MS, now() - MAX_AGE_MS);
      const shown = { ...details, userAgent: userAgent?.slice(0, MAX_USER_AGENT_CHARS) };
      await kv.set(NAMESPACE, id, shown, MAX_AGE_MS);
      await store.open({ id, tokenHash, createdAt: now(), usedAt: now() });
      return halves;
    },
    find: (halves) => get(createId(halves)),
    get,
    details: async (id) => sessionDetailsSchema.safeParse(await kv.get(NAMESPACE, id)).data,
    list: async () => (await store.list()).filter(isLive),
    async touch({ id, usedAt }) {
      if (now() - usedAt >= TOUCH_MS) await store.used(id, now()).catch(() => {});
    },
    async end(id) {
      await store.end(id);
      await kv.delete(NAMESPACE, id);
    },
  };
}

/** Values by namespace and key. */
export type SessionValues = Pick<KvStore, "get" | "set" | "delete">;

/** Derives the id from both halves. The lookup compares no secrets, so its timing reveals nothing about a guess. */
function createId({ cookie, key }: SessionHalves): string {
  return createHmac("sha256", key).update(cookie).digest("hex");
}
