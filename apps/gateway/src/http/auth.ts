import { createHash, createHmac, timingSafeEqual } from "node:crypto";

const COOKIE = "signalbox_session";
const SESSION_MS = 30 * 24 * 60 * 60 * 1000;
const GUESSES = 10;
const GUESS_WINDOW_MS = 60_000;

/** Who a request speaks for: whoever holds the token is the owner. */
type AuthResult =
  | { readonly kind: "owner" }
  | { readonly kind: "refused" }
  | { readonly kind: "throttled"; readonly retryAfterMs: number };

/** Checks tokens and cookies. Sessions carry a signature under the token, so a changed token ends them all. */
export interface Auth {
  /** Checks a bearer token against a secret of its own; without one against the gateway's token. */
  checkSecret(authorization: string | undefined, secret: string | undefined, remote: string): AuthResult;
  /** Checks an `Authorization` header or a cookie. `remote` names the peer whose guesses are counted. */
  check(
    headers: { authorization?: string | undefined; cookie?: string | undefined },
    remote: string,
  ): AuthResult;
  /** Checks a token given at sign-in. */
  signIn(token: string, remote: string): AuthResult;
  /** A `Set-Cookie` value for a signed-in browser. */
  cookie(): string;
  /** A `Set-Cookie` value that ends the browser's session. */
  expiredCookie(): string;
}

export function createAuth(token: string, now: () => number = Date.now): Auth {
  const expected = sha256(token);
  const sessionKey = createHmac("sha256", token).update("signalbox session").digest();
  const guesses = new Map<string, { count: number; since: number }>();

  const throttledFor = (remote: string): number => {
    const entry = guesses.get(remote);
    if (!entry) return 0;
    const left = entry.since + GUESS_WINDOW_MS - now();
    if (left <= 0) guesses.delete(remote);
    return left > 0 && entry.count >= GUESSES ? left : 0;
  };
  const refuse = (remote: string): AuthResult => {
    if (guesses.size > 10_000) guesses.clear();
    const entry = guesses.get(remote) ?? { count: 0, since: now() };
    guesses.set(remote, { ...entry, count: entry.count + 1 });
    return { kind: "refused" };
  };
  const checkToken = (given: string, remote: string, wanted = expected): AuthResult => {
    // The right one always passes: whoever guesses behind the same proxy locks nobody out.
    if (timingSafeEqual(sha256(given), wanted)) return { kind: "owner" };
    const retryAfterMs = throttledFor(remote);
    return retryAfterMs > 0 ? { kind: "throttled", retryAfterMs } : refuse(remote);
  };
  const sign = (expires: number): string =>
    createHmac("sha256", sessionKey).update(String(expires)).digest("base64url");

  return {
    check({ authorization, cookie }, remote) {
      const bearer = bearerOf(authorization);
      if (bearer !== undefined) return checkToken(bearer, remote);
      const session = readCookie(cookie);
      if (session === undefined) return { kind: "refused" };
      const [expires = "", signature = ""] = session.split(".");
      const good = timingSafeEqual(sha256(signature), sha256(sign(Number(expires))));
      return good && Number(expires) > now() ? { kind: "owner" } : { kind: "refused" };
    },
    checkSecret(authorization, secret, remote) {
      const bearer = bearerOf(authorization);
      if (bearer === undefined) return { kind: "refused" };
      return checkToken(bearer, remote, secret === undefined ? expected : sha256(secret));
    },
    signIn: (given, remote) => checkToken(given, remote),
    cookie() {
      const expires = now() + SESSION_MS;
      return `${COOKIE}=${expires}.${sign(expires)}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${SESSION_MS / 1000}`;
    },
    expiredCookie: () => `${COOKIE}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0`,
  };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer\s+(\S+)$/i.exec(authorization ?? "")?.[1];
}

function readCookie(header: string | undefined): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === COOKIE && value) return value;
  }
  return undefined;
}
