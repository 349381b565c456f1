import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const COOKIE = "signalbox_session";
const LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;
/** A session that is used is prolonged, at most once in this time. */
const RENEWED_AFTER_MS = 24 * 60 * 60 * 1000;

/** Remembers sessions that were ended, also after a restart. */
export interface Revocations {
  /** Those that are still to be refused. */
  list(): Promise<readonly string[]>;
  /** Resolves once it is durable. May be forgotten after `ttlMs`, when the session would have run out. */
  add(sessionId: string, ttlMs: number): Promise<void>;
}

/** A browser that has signed in. */
export interface Session {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Sessions of browsers: an id and a time in a cookie, signed, so that nothing is kept of those that are good. */
export interface Sessions {
  /** A `Set-Cookie` value for a browser that signs in. */
  begin(): string;
  /** The session in a `Cookie` header, unless it is forged, has run out or was ended. */
  read(cookie: string | undefined): Session | undefined;
  /** A `Set-Cookie` value that prolongs a session; undefined while it is new enough. */
  renew(session: Session): string | undefined;
  /** Ends a session for good. Resolves with a `Set-Cookie` value that takes the cookie back. */
  end(session: Session | undefined): Promise<string>;
}

/** Sessions are signed under the token, so that a changed token ends them all. */
export async function createSessions(
  token: string,
  revocations: Revocations,
  now: () => number,
): Promise<Sessions> {
  const key = createHmac("sha256", token).update("signalbox session").digest();
  const ended = new Set(await revocations.list());
  const sign = (id: string, expiresAt: number): Buffer =>
    createHmac("sha256", key).update(`${id}.${expiresAt}`).digest();
  const cookieOf = (id: string): string => {
    const expiresAt = now() + LIFETIME_MS;
    const value = `${id}.${expiresAt}.${sign(id, expiresAt).toString("base64url")}`;
    return `${COOKIE}=${value}; ${ATTRIBUTES}; Max-Age=${LIFETIME_MS / 1000}`;
  };
  return {
    begin: () => cookieOf(randomBytes(16).toString("base64url")),
    read(cookie) {
      const [id = "", expires = "", signature = ""] = valueIn(cookie)?.split(".") ?? [];
      const expiresAt = Number(expires);
      const given = Buffer.from(signature, "base64url");
      const wanted = sign(id, expiresAt);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
      return expiresAt > now() && !ended.has(id) ? { id, expiresAt } : undefined;
    },
    renew: ({ id, expiresAt }) =>
      expiresAt - now() < LIFETIME_MS - RENEWED_AFTER_MS ? cookieOf(id) : undefined,
    async end(session) {
      if (session !== undefined) {
        ended.add(session.id);
        await revocations.add(session.id, LIFETIME_MS);
      }
      return `${COOKIE}=; ${ATTRIBUTES}; Max-Age=0`;
    },
  };
}

const ATTRIBUTES = "HttpOnly; SameSite=Strict; Path=/";

function valueIn(header: string | undefined): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === COOKIE && value) return value;
  }
  return undefined;
}
