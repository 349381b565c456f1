import type { SignInInfo, SignInMethods } from "@signalbox/protocol";
import type { WebSession } from "@signalbox/store/types";
import type { Access, AuthResult, Peer, Principal } from "./access.ts";
import { setCookie } from "./cookies.ts";
import { type ExternalIdentity, type ExternalPeople, getPersonKey, getTokenKind } from "./external-people.ts";
import type { OidcSignIn } from "./oidc/oidc-sign-in.ts";
import { type RequestHeaders, readHeader } from "./proxy-identity.ts";
import { MAX_AGE_MS, type SessionDetails, type Sessions } from "./sessions.ts";
import type { SignInLinks } from "./sign-in-links.ts";
import type { SignInSettings } from "./sign-in-settings.ts";

/** A browser that signs in. */
interface Browser extends Peer {
  readonly headers: RequestHeaders;
  /** True if the page was loaded over HTTPS. */
  readonly secure: boolean;
}

/** The parts of a request from which a trusted proxy's user is read. */
type ProxiedRequest = Pick<Browser, "headers" | "remote">;

type SignInResult =
  | {
      readonly kind: "signed_in";
      /** A `Set-Cookie` value. */
      readonly cookie: string;
      /** CSRF token. The page stores it and sends it with every request. */
      readonly sessionKey: string;
    }
  /** `no_role`: none of the person's groups has a role. */
  | { readonly kind: "refused" | "throttled" | "no_role" };

interface SignOutResult {
  /** `Set-Cookie` values that delete the cookie. */
  readonly cookies: readonly string[];
  /** URL at which the browser also ends its session at the provider or the proxy. */
  readonly url?: string;
}

/** A browser signed in or out. */
export interface SignInEvent {
  readonly action: "signed_in" | "signed_out";
  readonly principal: Principal;
  readonly remote: string;
  /** Absent when the session ends. */
  readonly method?: SessionDetails["method"];
}

/** Opens, lists and ends browser sessions. */
export interface BrowserSignIns {
  /** @param token a token, or the secret of a sign-in link, which then becomes invalid */
  signIn(token: string, browser: Browser): Promise<SignInResult>;
  /** Opens a session for the user whom a trusted proxy names. */
  signInByProxy(browser: Browser): Promise<SignInResult>;
  /** Returns the sign-ins that a browser can use. */
  getMethods(request: ProxiedRequest): SignInMethods;
  /** Ends the session of a credential, if it has one. */
  signOut(access: Access, peer: Peer): Promise<SignOutResult>;
  /** Ends the sessions that a logout token of the provider names. Returns false if the token is invalid. */
  signOutByProvider(logoutToken: string): Promise<boolean>;
  /** Lists the sessions, the latest use first. */
  list(): Promise<readonly SignInInfo[]>;
  /** Ends the session with this id. Returns false if the session does not exist. */
  end(id: string): Promise<boolean>;
  /**
   * Returns the time at which the person of a session proved their identity, in milliseconds since the epoch. 0 if it
   * is unknown, as for a session that a proxy opened.
   */
  getSignInTime(session: WebSession): Promise<number>;
  /** Calls `listener` with the id of each session that ends by a sign-out. */
  onSignOut(listener: (sessionId: string) => void): void;
}

export interface BrowserSignInsOptions {
  readonly sessions: Sessions;
  readonly links: SignInLinks;
  readonly oidc: OidcSignIn;
  readonly people: ExternalPeople;
  readonly settings: () => SignInSettings;
  readonly readProxy: (request: ProxiedRequest) => ExternalIdentity | undefined;
  readonly findPrincipal: (tokenHash: string) => Promise<Principal | undefined>;
  readonly findToken: (token: string) => Promise<Access | undefined>;
  /** Checks a secret unless its sender is throttled. */
  readonly check: (
    secret: string,
    remote: string,
    findAccess: (secret: string) => Promise<Access | undefined>,
  ) => Promise<AuthResult>;
  readonly onSignIn: (event: SignInEvent) => void;
}

export function createBrowserSignIns(options: BrowserSignInsOptions): BrowserSignIns {
  return new StoredSignIns(options);
}

class StoredSignIns implements BrowserSignIns {
  readonly #options: BrowserSignInsOptions;
  readonly #listeners: ((sessionId: string) => void)[] = [];

  constructor(options: BrowserSignInsOptions) {
    this.#options = options;
  }

  async signIn(token: string, browser: Browser): Promise<SignInResult> {
    const { links, oidc, settings, check, findPrincipal, findToken } = this.#options;
    let details: SessionDetails = { method: "token" };
    const result = await check(token, browser.remote, async (secret) => {
      const grant =
        (await links.redeem(secret, undefined)) ??
        (await oidc.redeem(secret, readHeader(browser.headers, "cookie")));
      if (grant === undefined) return settings().tokenSignIn ? findToken(secret) : undefined;
      details = grant.details ?? { method: "link" };
      const principal = await findPrincipal(grant.tokenHash);
      return principal && { principal, tokenHash: grant.tokenHash };
    });
    return result.kind === "granted" ? this.#begin(result.access, details, browser) : result;
  }

  async signInByProxy(browser: Browser): Promise<SignInResult> {
    const identity = this.#options.readProxy(browser);
    if (identity === undefined) return { kind: "refused" };
    const person = await this.#options.people.admit(identity);
    if (person === undefined || person.principal.role === "monitor") return { kind: "no_role" };
    return this.#begin(person, { method: "proxy" }, browser);
  }

  getMethods(request: ProxiedRequest): SignInMethods {
    const { tokenSignIn, oidc } = this.#options.settings();
    return {
      token: tokenSignIn,
      ...(oidc === undefined ? {} : { oidc: { label: oidc.label } }),
      proxy: this.#options.readProxy(request) !== undefined,
    };
  }

  async signOut({ principal, session }: Access, { remote, port }: Peer): Promise<SignOutResult> {
    const cookies = [true, false].map((secure) => setCookie({ port, secure }, "", 0));
    if (session === undefined) return { cookies };
    const details = await this.#options.sessions.details(session.id).catch(() => undefined);
    await this.#end(session, { principal, remote });
    const url = details && (await this.#getSignOutUrl(details));
    return { cookies, ...(url === undefined ? {} : { url }) };
  }

  async signOutByProvider(logoutToken: string): Promise<boolean> {
    const { oidc, settings, sessions } = this.#options;
    const notice = await oidc.readLogoutToken(logoutToken);
    const issuer = settings().oidc?.issuer;
    if (notice === undefined || issuer === undefined) return false;
    const { subject, sid } = notice;
    const person = subject === undefined ? undefined : getPersonKey({ kind: "oidc", issuer, subject });
    for (const session of await sessions.list()) {
      const isPerson = person === undefined || session.tokenHash === person;
      if (!isPerson || getTokenKind(session.tokenHash) !== "oidc") continue;
      const ended = sid === undefined || (await sessions.details(session.id))?.sid === sid;
      if (ended) await this.#end(session, { remote: "OpenID provider" });
    }
    return true;
  }

  async list(): Promise<readonly SignInInfo[]> {
    const { sessions, findPrincipal } = this.#options;
    const listed = (await sessions.list()).map(async ({ id, tokenHash, createdAt, usedAt }) => {
      const [principal, details] = await Promise.all([findPrincipal(tokenHash), sessions.details(id)]);
      const { method, remote, userAgent } = details ?? {};
      return principal === undefined
        ? []
        : [{ id, ...principal, method, createdAt, usedAt, remote, userAgent }];
    });
    return (await Promise.all(listed)).flat();
  }

  async end(id: string): Promise<boolean> {
    const session = await this.#options.sessions.get(id);
    if (session === undefined) return false;
    await this.#end(session, { remote: "another session" });
    return true;
  }

  async getSignInTime({ id, tokenHash, createdAt }: WebSession): Promise<number> {
    if (getTokenKind(tokenHash) === "token") return createdAt;
    const details = await this.#options.sessions.details(id);
    return Math.min(createdAt, details?.authenticatedAt ?? 0);
  }

  onSignOut(listener: (sessionId: string) => void): void {
    this.#listeners.push(listener);
  }

  async #getSignOutUrl(details: SessionDetails): Promise<string | undefined> {
    if (details.method === "proxy") return this.#options.settings().proxy?.signOutUrl;
    return details.method === "oidc" ? this.#options.oidc.getLogoutUrl(details) : undefined;
  }

  /** Opens a new session. It never continues one that the browser already has. */
  async #begin(
    { principal, tokenHash }: Pick<Access, "principal" | "tokenHash">,
    details: SessionDetails,
    { remote, port, secure, headers }: Browser,
  ): Promise<SignInResult> {
    const userAgent = readHeader(headers, "user-agent");
    const { cookie, key } = await this.#options.sessions.begin(tokenHash, { ...details, remote, userAgent });
    this.#options.onSignIn({ action: "signed_in", principal, remote, method: details.method });
    return { kind: "signed_in", cookie: setCookie({ port, secure }, cookie, MAX_AGE_MS), sessionKey: key };
  }

  /** Ends a session. Its connections are closed even if the store fails. */
  async #end(
    { id, tokenHash }: WebSession,
    { principal, remote }: { readonly principal?: Principal; readonly remote: string },
  ): Promise<void> {
    const { sessions, findPrincipal, onSignIn } = this.#options;
    try {
      const person = principal ?? (await findPrincipal(tokenHash));
      await sessions.end(id);
      if (person !== undefined) onSignIn({ action: "signed_out", principal: person, remote });
    } finally {
      for (const listener of this.#listeners) listener(id);
    }
  }
}
