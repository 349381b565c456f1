import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { type AccessStore, OWNER, type Principal, type WebSession } from "./access.ts";
import { readCookie, setCookie } from "./cookies.ts";
import { createSessions, LONGEST_MS, type SessionHalves, type Sessions } from "./sessions.ts";
import { createSignInLinks, type LinkSecret, type SignInLinks } from "./sign-in-links.ts";
import { createThrottle, type Throttle } from "./throttle.ts";

/** The credential of a request. */
export interface Access {
  readonly principal: Principal;
  /** The token, by a hash: what it has opened ends with it. */
  readonly tokenHash: string;
  /** Absent where the token itself was sent. */
  readonly session?: WebSession;
}

type AuthResult =
  | { readonly kind: "granted"; readonly access: Access }
  | { readonly kind: "refused" | "throttled" };

type SignInResult =
  | {
      readonly kind: "signed-in";
      /** A `Set-Cookie` value. */
      readonly cookie: string;
      /** The other half, which the page is to keep and to send. */
      readonly sessionKey: string;
    }
  | { readonly kind: "refused" | "throttled" };

/** What of a request says who sends it. */
interface Credentials {
  readonly authorization?: string | undefined;
  readonly cookie?: string | undefined;
  /** The half of a session that is not in the cookie. */
  readonly sessionKey?: string | undefined;
  /** The address of the peer, whose guesses are counted. */
  readonly remote: string;
  /** The port the request came in by: cookies carry it in their name. */
  readonly port: number;
}

/** Where a request comes from. */
type From = Pick<Credentials, "remote" | "port">;

/** Checks tokens and sessions. */
export interface Auth {
  /** Checks an `Authorization` header or both halves of a session. */
  check(credentials: Credentials): Promise<AuthResult>;
  /** Checks a bearer token against a secret of its own; without one it has to be an owner's token. */
  checkSecret(
    credentials: From & Pick<Credentials, "authorization">,
    secret: string | undefined,
  ): Promise<AuthResult>;
  /**
   * Signs a browser in by a token, or by the secret of a sign-in link, which is used up by it. `secure` where the page
   * came over https.
   */
  signIn(token: string, from: From & { readonly secure: boolean }): Promise<SignInResult>;
  /** A link that signs a browser in once, with the rights of the caller. */
  issueLink(access: Access): LinkSecret;
  /** Ends the session of a browser; resolves with `Set-Cookie` values that take the cookie back. */
  signOut(access: Access, from: From): Promise<readonly string[]>;
  /** Whether a credential is still valid. Checking does not count as use. */
  isGood(access: Access): Promise<boolean>;
  /** What somebody came in with is being used: its session goes on. */
  used(access: Access): Promise<void>;
  /** Calls `listener` with the id of each session that is signed out. */
  onSignOut(listener: (sessionId: string) => void): void;
}

/** A browser has signed in or out. */
export interface SignInEvent {
  readonly action: "signed-in" | "signed-out";
  readonly principal: Principal;
  readonly remote: string;
}

export interface AuthOptions {
  /** The gateway's own token. */
  readonly token: string;
  readonly store: AccessStore;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /** Told of each browser that signs in or out. */
  readonly onSignIn?: (event: SignInEvent) => void;
  /** In [0, 1), for the lot of who guesses. Default `Math.random`. */
  readonly random?: () => number;
}

/** A secret so long is not guessed at any speed, so nobody can be kept from using it. */
const UNGUESSABLE_CHARS = 32;
/** The use of a token is written down at most so often. */
const NOTED_MS = 60_000;

export function createAuth(options: AuthOptions): Auth {
  return new TokenAuth(options);
}

class TokenAuth implements Auth {
  readonly #options: AuthOptions;
  readonly #now: () => number;
  readonly #onSignIn: (event: SignInEvent) => void;
  readonly #own: Buffer;
  // Of the gateway's token, which people may choose, the store gets no plain hash to guess from.
  readonly #ownHash: string;
  readonly #throttle: Throttle;
  readonly #sessions: Sessions;
  readonly #links: SignInLinks;
  readonly #listeners: ((sessionId: string) => void)[] = [];

  constructor(options: AuthOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    const random = options.random ?? Math.random;
    this.#onSignIn = options.onSignIn ?? (() => {});
    this.#own = hashOf(options.token);
    this.#ownHash = createHmac("sha256", options.token).update("signalbox session").digest("hex");
    this.#throttle = createThrottle(this.#now, random);
    this.#sessions = createSessions(options.store.sessions, this.#now);
    this.#links = createSignInLinks(this.#now);
  }

  async check({
    authorization,
    cookie: cookies,
    sessionKey: key,
    remote,
    port,
  }: Credentials): Promise<AuthResult> {
    const bearer = bearerOf(authorization);
    if (bearer !== undefined) return this.#look(bearer, remote, (given) => this.#byToken(given));
    const cookie = readCookie(cookies, port);
    if (cookie === undefined || key === undefined) return { kind: "refused" };
    const access = await this.#bySession({ cookie, key });
    return access === undefined ? { kind: "refused" } : { kind: "granted", access };
  }

  async checkSecret(
    { authorization, remote }: From & Pick<Credentials, "authorization">,
    secret: string | undefined,
  ): Promise<AuthResult> {
    const bearer = bearerOf(authorization);
    if (bearer === undefined) return { kind: "refused" };
    return this.#look(bearer, remote, async (given) => {
      if (secret !== undefined)
        return isSame(hashOf(given), hashOf(secret))
          ? { principal: OWNER, tokenHash: this.#ownHash }
          : undefined;
      const access = await this.#byToken(given);
      return access?.principal.role === "owner" ? access : undefined;
    });
  }

  async signIn(
    given: string,
    { remote, port, secure }: From & { readonly secure: boolean },
  ): Promise<SignInResult> {
    const result = await this.#look(given, remote, (given) => this.#byLinkOrToken(given));
    if (result.kind !== "granted") return result;
    const { cookie, key } = await this.#sessions.begin(result.access.tokenHash);
    this.#onSignIn({ action: "signed-in", principal: result.access.principal, remote });
    return {
      kind: "signed-in",
      cookie: setCookie({ port, secure }, cookie, LONGEST_MS),
      sessionKey: key,
    };
  }

  issueLink({ tokenHash }: Access): LinkSecret {
    return this.#links.issue(tokenHash);
  }

  async signOut({ principal, session }: Access, { remote, port }: From): Promise<readonly string[]> {
    const cookies = [true, false].map((secure) => setCookie({ port, secure }, "", 0));
    if (session === undefined) return cookies;
    try {
      await this.#sessions.end(session.id);
      this.#onSignIn({ action: "signed-out", principal, remote });
      return cookies;
    } finally {
      for (const listener of this.#listeners) listener(session.id);
    }
  }

  async isGood({ tokenHash, session }: Access): Promise<boolean> {
    if (session !== undefined && (await this.#sessions.get(session.id)) === undefined) return false;
    return (await this.#principalOf(tokenHash)) !== undefined;
  }

  async used({ session }: Access): Promise<void> {
    const open = session && (await this.#sessions.get(session.id));
    if (open !== undefined) await this.#sessions.touch(open);
  }

  onSignOut(listener: (sessionId: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Whose token a hash belongs to. */
  async #principalOf(tokenHash: string): Promise<Principal | undefined> {
    const { store } = this.#options;
    if (tokenHash === this.#ownHash) return OWNER;
    const named = await store.tokens.find(tokenHash);
    if (named === undefined) return undefined;
    // Where it cannot be written down, as on a full disk, the token is good all the same.
    if (this.#now() - (named.usedAt ?? 0) >= NOTED_MS)
      await store.tokens.used(tokenHash, this.#now()).catch(() => {});
    return { name: named.name, role: named.role };
  }

  async #byToken(given: string): Promise<Access | undefined> {
    const hash = hashOf(given);
    const tokenHash = isSame(hash, this.#own) ? this.#ownHash : hash.toString("hex");
    const principal = await this.#principalOf(tokenHash);
    return principal && { principal, tokenHash };
  }

  async #byLinkOrToken(given: string): Promise<Access | undefined> {
    const tokenHash = this.#links.redeem(given);
    if (tokenHash === undefined) return this.#byToken(given);
    const principal = await this.#principalOf(tokenHash);
    return principal && { principal, tokenHash };
  }

  async #bySession(halves: SessionHalves): Promise<Access | undefined> {
    const session = await this.#sessions.find(halves);
    const principal = session && (await this.#principalOf(session.tokenHash));
    if (session === undefined || principal === undefined) return undefined;
    await this.#sessions.touch(session);
    return { principal, tokenHash: session.tokenHash, session };
  }

  /** Looks at a secret, unless its sender has guessed too often. */
  async #look(
    given: string,
    remote: string,
    accessOf: (given: string) => Promise<Access | undefined>,
  ): Promise<AuthResult> {
    if (given.length < UNGUESSABLE_CHARS && !this.#throttle.looks(remote)) return { kind: "throttled" };
    const access = await accessOf(given);
    if (access !== undefined) return { kind: "granted", access };
    this.#throttle.failed(remote);
    return { kind: this.#throttle.isSlowed(remote) ? "throttled" : "refused" };
  }
}

function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function isSame(a: Buffer, b: Buffer): boolean {
  return timingSafeEqual(a, b);
}

function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer\s+(\S+)$/i.exec(authorization ?? "")?.[1];
}
