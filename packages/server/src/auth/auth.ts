import { createHash, timingSafeEqual } from "node:crypto";
import { createSessions, type Revocations, type Session } from "./sessions.ts";
import { createThrottle } from "./throttle.ts";

/** Who a request speaks for: whoever holds the token, or has signed in with it, is the owner. */
type AuthResult =
  | { readonly kind: "owner"; readonly session?: Session }
  | { readonly kind: "refused" }
  | { readonly kind: "throttled"; readonly retryAfterMs: number };

/** What of a request's headers says who sends it. */
interface Credentials {
  readonly authorization?: string | undefined;
  readonly cookie?: string | undefined;
}

/** Checks tokens and sessions. `remote` is the address of the peer whose guesses are counted. */
export interface Auth {
  /** Checks an `Authorization` header or a cookie. */
  check(credentials: Credentials, remote: string): AuthResult;
  /** Checks a bearer token against a secret of its own; without one against the gateway's token. */
  checkSecret(authorization: string | undefined, secret: string | undefined, remote: string): AuthResult;
  /** Signs a browser in by the token. `cookie` is a `Set-Cookie` value. */
  signIn(token: string, remote: string): AuthResult & { readonly cookie?: string };
  /** A `Set-Cookie` value that prolongs a session; undefined while that is not due. */
  renew(session: Session): string | undefined;
  /** Ends the session of a browser; resolves with a `Set-Cookie` value that takes the cookie back. */
  signOut(session: Session | undefined): Promise<string>;
  /** Calls `listener` with the id of each session that is signed out. */
  onSignOut(listener: (sessionId: string) => void): void;
}

export interface AuthOptions {
  /** The gateway's token. */
  readonly token: string;
  readonly revocations: Revocations;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** A secret so long is not guessed at any speed, so nobody can be kept from using it. */
const UNGUESSABLE_CHARS = 40;

export async function createAuth({ token, revocations, now = Date.now }: AuthOptions): Promise<Auth> {
  const expected = sha256(token);
  const throttle = createThrottle(now);
  const sessions = await createSessions(token, revocations, now);
  const listeners: ((sessionId: string) => void)[] = [];

  const checkToken = (given: string, remote: string, wanted = expected): AuthResult => {
    const retryAfterMs = throttle.waitMs(remote);
    const waits = retryAfterMs > 0;
    const isRight = timingSafeEqual(sha256(given), wanted);
    if (isRight && (!waits || given.length >= UNGUESSABLE_CHARS || throttle.isKnown(remote))) {
      throttle.proved(remote);
      return { kind: "owner" };
    }
    if (waits) return { kind: "throttled", retryAfterMs };
    throttle.failed(remote);
    return { kind: "refused" };
  };

  return {
    check({ authorization, cookie }, remote) {
      const bearer = bearerOf(authorization);
      if (bearer !== undefined) return checkToken(bearer, remote);
      const session = sessions.read(cookie);
      return session === undefined ? { kind: "refused" } : { kind: "owner", session };
    },
    checkSecret(authorization, secret, remote) {
      const bearer = bearerOf(authorization);
      if (bearer === undefined) return { kind: "refused" };
      return checkToken(bearer, remote, secret === undefined ? expected : sha256(secret));
    },
    signIn(given, remote) {
      const result = checkToken(given, remote);
      return result.kind === "owner" ? { ...result, cookie: sessions.begin() } : result;
    },
    renew: sessions.renew,
    async signOut(session) {
      try {
        return await sessions.end(session);
      } finally {
        if (session !== undefined) for (const listener of listeners) listener(session.id);
      }
    },
    onSignOut: (listener) => void listeners.push(listener),
  };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer\s+(\S+)$/i.exec(authorization ?? "")?.[1];
}
