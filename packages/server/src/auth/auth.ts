import { createHmac } from "node:crypto";
import type { AccessStore, AccessToken, WebSession } from "@signalbox/store/types";
import { hasScope, OWNER, type Principal } from "./access.ts";
import { readCookie, setCookie } from "./cookies.ts";
import { hashToken, isSameSecret } from "./secrets.ts";
import { createSessions, MAX_AGE_MS, type SessionHalves, type Sessions } from "./sessions.ts";
import { createSignInLinks, type LinkSecret, type LinkValues, type SignInLinks } from "./sign-in-links.ts";
import { createThrottle, type Throttle } from "./throttle.ts";

/** A verified credential. */
export interface Access {
  readonly principal: Principal;
  /** Hash of the token. Revoking the token ends every connection that it opened. */
  readonly tokenHash: string;
  /** Absent if the request carried the token itself. */
  readonly session?: WebSession;
}

type AuthResult =
  | { readonly kind: "granted"; readonly access: Access }
  | { readonly kind: "refused" | "throttled" };

type MonitoringResult = "granted" | "refused" | "throttled" | "forbidden";

type SignInResult =
  | {
      readonly kind: "signed_in";
      /** A `Set-Cookie` value. */
      readonly cookie: string;
      /** CSRF token. The page stores it and sends it with every request. */
      readonly sessionKey: string;
    }
  | { readonly kind: "refused" | "throttled" };

/** The parts of a request that authenticate it. */
interface Credentials {
  readonly authorization?: string;
  readonly cookie?: string;
  /** The half of a session that is not in the cookie. */
  readonly sessionKey?: string;
  /** Address of the peer. Wrong secrets are counted per address. */
  readonly remote: string;
  /** Local port that received the request. Cookie names contain it. */
  readonly port: number;
}

/** The source of a request. */
type Peer = Pick<Credentials, "remote" | "port">;

/** Checks tokens and sessions. */
export interface Auth {
  /** Checks an `Authorization` header or both halves of a session. */
  check(credentials: Credentials): Promise<AuthResult>;
  /** Checks a bearer token against `secret`. Without `secret`, it must be an owner's token. */
  checkSecret(
    credentials: Peer & Pick<Credentials, "authorization">,
    secret: string | undefined,
  ): Promise<AuthResult>;
  /** Checks a request for metrics, which needs a token with the role `monitor` or with the scope `read`. */
  checkMonitoring(credentials: Credentials): Promise<MonitoringResult>;
  /**
   * Opens a browser session.
   *
   * @param token a token, or the secret of a sign-in link, which then becomes invalid
   * @param peer `secure` if the page was loaded over HTTPS
   */
  signIn(token: string, peer: Peer & { readonly secure: boolean }): Promise<SignInResult>;
  /** Creates a link that signs a browser in once, with the permissions of `access`. */
  issueLink(access: Access): Promise<LinkSecret>;
  /** Ends a browser session and returns `Set-Cookie` values that delete the cookie. */
  signOut(access: Access, peer: Peer): Promise<readonly string[]>;
  /** Checks that a credential is still valid. Does not extend its session. */
  isGood(access: Access): Promise<boolean>;
  /** Extends the session of a credential. */
  used(access: Access): Promise<void>;
  /** Calls `listener` with the id of each session that signs out. */
  onSignOut(listener: (sessionId: string) => void): void;
}

/** A browser signed in or out. */
export interface SignInEvent {
  readonly action: "signed_in" | "signed_out";
  readonly principal: Principal;
  readonly remote: string;
}

export interface AuthOptions {
  /** The gateway's own token. */
  readonly token: string;
  readonly store: AccessStore;
  /** Stores the hashes of sign-in links. */
  readonly kv: LinkValues;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /** Called when a browser signs in or out. */
  readonly onSignIn?: (event: SignInEvent) => void;
  /** Returns numbers in [0, 1), for the throttle. Default `Math.random`. */
  readonly random?: () => number;
}

/** Secrets of this length cannot be guessed, so they are never throttled. */
const UNGUESSABLE_CHARS = 32;
/** Minimum time between two updates of a token's `usedAt`. */
const TOUCH_MS = 60_000;

export function createAuth(options: AuthOptions): Auth {
  return new TokenAuth(options);
}

class TokenAuth implements Auth {
  readonly #options: AuthOptions;
  readonly #now: () => number;
  readonly #onSignIn: (event: SignInEvent) => void;
  /** Users may choose a weak token for the gateway, so the store gets an HMAC instead of a plain hash. */
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
    this.#ownHash = createHmac("sha256", options.token).update("signalbox session").digest("hex");
    this.#throttle = createThrottle(this.#now, random);
    this.#sessions = createSessions(options.store.sessions, this.#now);
    this.#links = createSignInLinks(options.kv, this.#now);
  }

  async check({
    authorization,
    cookie: cookies,
    sessionKey: key,
    remote,
    port,
  }: Credentials): Promise<AuthResult> {
    const bearer = parseBearer(authorization);
    if (bearer !== undefined) return this.#check(bearer, remote, (secret) => this.#byToken(secret));
    const cookie = readCookie(cookies, port);
    if (cookie === undefined || key === undefined) return { kind: "refused" };
    const access = await this.#bySession({ cookie, key });
    return access === undefined ? { kind: "refused" } : { kind: "granted", access };
  }

  async checkSecret(
    { authorization, remote }: Peer & Pick<Credentials, "authorization">,
    secret: string | undefined,
  ): Promise<AuthResult> {
    const bearer = parseBearer(authorization);
    if (bearer === undefined) return { kind: "refused" };
    return this.#check(bearer, remote, async (candidate) => {
      if (secret !== undefined)
        return isSameSecret(candidate, secret) ? { principal: OWNER, tokenHash: this.#ownHash } : undefined;
      const access = await this.#byToken(candidate);
      return access?.principal.role === "owner" ? access : undefined;
    });
  }

  async checkMonitoring(credentials: Credentials): Promise<MonitoringResult> {
    const bearer = parseBearer(credentials.authorization);
    // Only generated tokens are stored, and they are long.
    if (bearer !== undefined && bearer.length >= UNGUESSABLE_CHARS) {
      const named = await this.#options.store.tokens.find(hashToken(bearer));
      if (named?.role === "monitor") {
        await this.#touch(named);
        return "granted";
      }
    }
    const result = await this.check(credentials);
    if (result.kind !== "granted") return result.kind;
    return hasScope(result.access.principal, "read") ? "granted" : "forbidden";
  }

  async signIn(
    token: string,
    { remote, port, secure }: Peer & { readonly secure: boolean },
  ): Promise<SignInResult> {
    const result = await this.#check(token, remote, (secret) => this.#byLinkOrToken(secret));
    if (result.kind !== "granted") return result;
    const { cookie, key } = await this.#sessions.begin(result.access.tokenHash);
    this.#onSignIn({ action: "signed_in", principal: result.access.principal, remote });
    return {
      kind: "signed_in",
      cookie: setCookie({ port, secure }, cookie, MAX_AGE_MS),
      sessionKey: key,
    };
  }

  issueLink({ tokenHash }: Access): Promise<LinkSecret> {
    return this.#links.issue(tokenHash);
  }

  async signOut({ principal, session }: Access, { remote, port }: Peer): Promise<readonly string[]> {
    const cookies = [true, false].map((secure) => setCookie({ port, secure }, "", 0));
    if (session === undefined) return cookies;
    try {
      await this.#sessions.end(session.id);
      this.#onSignIn({ action: "signed_out", principal, remote });
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

  /** Returns the holder of the token with this hash. */
  async #principalOf(tokenHash: string): Promise<Principal | undefined> {
    const { store } = this.#options;
    if (tokenHash === this.#ownHash) return OWNER;
    const named = await store.tokens.find(tokenHash);
    // A monitoring token opens nothing but the metrics.
    if (named === undefined || named.role === "monitor") return undefined;
    await this.#touch(named);
    return { name: named.name, role: named.role };
  }

  /** Records the use of a token. It stays valid even if that fails, for example because the disk is full. */
  async #touch({ hash, usedAt = 0 }: AccessToken): Promise<void> {
    if (this.#now() - usedAt >= TOUCH_MS)
      await this.#options.store.tokens.used(hash, this.#now()).catch(() => {});
  }

  async #byToken(token: string): Promise<Access | undefined> {
    const tokenHash = isSameSecret(token, this.#options.token) ? this.#ownHash : hashToken(token);
    const principal = await this.#principalOf(tokenHash);
    return principal && { principal, tokenHash };
  }

  async #byLinkOrToken(secret: string): Promise<Access | undefined> {
    const tokenHash = await this.#links.redeem(secret);
    if (tokenHash === undefined) return this.#byToken(secret);
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

  /** Checks a secret unless its sender is throttled. */
  async #check(
    secret: string,
    remote: string,
    findAccess: (secret: string) => Promise<Access | undefined>,
  ): Promise<AuthResult> {
    if (secret.length < UNGUESSABLE_CHARS && !this.#throttle.mayCheck(remote)) return { kind: "throttled" };
    const access = await findAccess(secret);
    if (access !== undefined) return { kind: "granted", access };
    this.#throttle.failed(remote);
    return { kind: this.#throttle.isSlowed(remote) ? "throttled" : "refused" };
  }
}

function parseBearer(authorization: string | undefined): string | undefined {
  return /^Bearer\s+(\S+)$/i.exec(authorization ?? "")?.[1];
}
