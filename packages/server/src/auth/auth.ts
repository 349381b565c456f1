import { createHmac } from "node:crypto";
import type { AccessToken } from "@signalbox/store/types";
import { type Access, type AuthResult, hasScope, OWNER, type Peer, type Principal } from "./access.ts";
import type { Auth, AuthOptions, Credentials, MonitoringResult } from "./auth-types.ts";
import { type BrowserSignIns, createBrowserSignIns } from "./browser-sign-ins.ts";
import { readCookie } from "./cookies.ts";
import { createExternalPeople, type ExternalPeople, getPersonKey, getTokenKind } from "./external-people.ts";
import { createOidcSignIn, type OidcSignIn } from "./oidc/oidc-sign-in.ts";
import { isJwt } from "./oidc/tokens.ts";
import { type RequestHeaders, readProxyIdentity } from "./proxy-identity.ts";
import { hashToken, isSameSecret } from "./secrets.ts";
import { createSessions, MAX_AGE_MS, type SessionHalves, type Sessions } from "./sessions.ts";
import { createSignInLinks, type LinkSecret, type SignInLinks } from "./sign-in-links.ts";
import { type SignInSettings, TOKENS_ONLY } from "./sign-in-settings.ts";
import { createThrottle, type Throttle } from "./throttle.ts";

/** Secrets of this length cannot be guessed, so they are never throttled. */
const UNGUESSABLE_CHARS = 32;
/** Minimum time between two updates of a token's `usedAt`. */
const TOUCH_MS = 60_000;
const HOUR_MS = 60 * 60_000;

export function createAuth(options: AuthOptions): Auth {
  return new TokenAuth(options);
}

/** The parts of a request from which a trusted proxy's user is read. */
interface ProxiedRequest {
  readonly headers: RequestHeaders;
  readonly remote: string;
}

class TokenAuth implements Auth {
  readonly browsers: BrowserSignIns;
  readonly oidc: OidcSignIn;
  readonly #options: AuthOptions;
  readonly #now: () => number;
  readonly #settings: () => SignInSettings;
  /** Users may choose a weak token for the gateway, so the store gets an HMAC instead of a plain hash. */
  readonly #ownHash: string;
  readonly #throttle: Throttle;
  readonly #people: ExternalPeople;
  readonly #sessions: Sessions;
  readonly #links: SignInLinks;

  constructor(options: AuthOptions) {
    const { store, kv, settings = () => TOKENS_ONLY, now = Date.now, logger = { warn: () => {} } } = options;
    this.#options = options;
    this.#now = now;
    this.#settings = settings;
    this.#ownHash = createHmac("sha256", options.token).update("signalbox session").digest("hex");
    this.#throttle = createThrottle(now, options.random ?? Math.random);
    this.#people = createExternalPeople({ tokens: store.tokens, kv, settings, now });
    this.#sessions = createSessions({ sessions: store.sessions, kv }, now, (tokenHash) => {
      const hours = getTokenKind(tokenHash) === "oidc" ? settings().oidc?.sessionHours : undefined;
      return hours === undefined ? MAX_AGE_MS : hours * HOUR_MS;
    });
    this.#links = createSignInLinks(kv, now);
    this.oidc = createOidcSignIn({
      settings: () => settings().oidc,
      publicUrl: options.publicUrl ?? (() => "http://127.0.0.1"),
      people: this.#people,
      kv,
      now,
      logger,
    });
    this.browsers = createBrowserSignIns({
      sessions: this.#sessions,
      links: this.#links,
      oidc: this.oidc,
      people: this.#people,
      settings,
      readProxy: (request) => this.#readProxy(request),
      findPrincipal: (tokenHash) => this.#principalOf(tokenHash),
      findToken: (token) => this.#byToken(token),
      check: (secret, remote, findAccess) => this.#check(secret, remote, findAccess),
      onSignIn: options.onSignIn ?? (() => {}),
    });
  }

  async check({
    authorization,
    cookie: cookies,
    sessionKey: key,
    headers = {},
    remote,
    port,
  }: Credentials): Promise<AuthResult> {
    const bearer = parseBearer(authorization);
    if (bearer !== undefined) return this.#check(bearer, remote, (secret) => this.#byBearer(secret));
    const cookie = readCookie(cookies, port);
    if (cookie === undefined || key === undefined) return { kind: "refused" };
    const access = await this.#bySession({ cookie, key }, { headers, remote });
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
      const access = await this.#byBearer(candidate);
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
      if ((await this.#byAccessToken(bearer))?.principal.role === "monitor") return "granted";
    }
    const result = await this.check(credentials);
    if (result.kind !== "granted") return result.kind;
    return hasScope(result.access.principal, "read") ? "granted" : "forbidden";
  }

  issueLink({ tokenHash }: Access): Promise<LinkSecret> {
    return this.#links.issue({ tokenHash });
  }

  async isGood({ tokenHash, session, expiresAt }: Access): Promise<boolean> {
    if (expiresAt !== undefined && this.#now() >= expiresAt) return false;
    if (session !== undefined && (await this.#sessions.get(session.id)) === undefined) return false;
    return (await this.#principalOf(tokenHash)) !== undefined;
  }

  async used({ session }: Access): Promise<void> {
    const open = session && (await this.#sessions.get(session.id));
    if (open !== undefined) await this.#sessions.touch(open);
  }

  applySettings(): Promise<void> {
    return this.#people.applySettings();
  }

  /** Returns the holder of the token with this hash, or the person with this key. */
  async #principalOf(tokenHash: string): Promise<Principal | undefined> {
    if (tokenHash === this.#ownHash) return OWNER;
    const named = await this.#options.store.tokens.find(tokenHash);
    if (named === undefined) return undefined;
    // The role of a person follows from the groups and the current settings.
    const isPerson = getTokenKind(tokenHash) !== "token";
    const role = isPerson ? (await this.#people.find(tokenHash))?.role : named.role;
    // A monitoring token opens nothing but the metrics.
    if (role === undefined || role === "monitor") return undefined;
    await this.#touch(named);
    return { name: named.name, role };
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

  /** Finds the holder of the gateway's own token, a named one, or an access token of the OpenID provider. */
  async #byBearer(token: string): Promise<Access | undefined> {
    const access = (await this.#byToken(token)) ?? (await this.#byAccessToken(token));
    return access?.principal.role === "monitor" ? undefined : access;
  }

  async #byAccessToken(token: string): Promise<Access | undefined> {
    return isJwt(token) ? this.oidc.checkAccessToken(token) : undefined;
  }

  async #bySession(halves: SessionHalves, request: ProxiedRequest): Promise<Access | undefined> {
    const session = await this.#sessions.find(halves);
    if (session === undefined) return undefined;
    const { tokenHash } = session;
    if (getTokenKind(tokenHash) === "proxy" && !(await this.#isStillNamed(tokenHash, request)))
      return undefined;
    const principal = await this.#principalOf(tokenHash);
    if (principal === undefined) return undefined;
    await this.#sessions.touch(session);
    return { principal, tokenHash, session };
  }

  /** Returns true if the proxy names the person of the session in this request too, and records the current groups. */
  async #isStillNamed(tokenHash: string, request: ProxiedRequest): Promise<boolean> {
    const identity = this.#readProxy(request);
    if (identity === undefined || getPersonKey(identity) !== tokenHash) return false;
    // An owner may have revoked the person, whom `admit` would add again.
    if ((await this.#options.store.tokens.find(tokenHash)) === undefined) return false;
    return (await this.#people.admit(identity)) !== undefined;
  }

  #readProxy(request: ProxiedRequest): ReturnType<typeof readProxyIdentity> {
    const { proxy } = this.#settings();
    return proxy && readProxyIdentity(request, proxy, this.#now());
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
