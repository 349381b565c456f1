import type { Logger } from "../../logger.ts";
import { readSignInCookie, setSignInCookie } from "../cookies.ts";
import type { AdmittedPerson, ExternalPeople } from "../external-people.ts";
import { createSecret, hashToken } from "../secrets.ts";
import type { SessionDetails } from "../sessions.ts";
import { createSignInLinks, type LinkGrant, type LinkValues } from "../sign-in-links.ts";
import type { OidcSettings } from "../sign-in-settings.ts";
import { readGroups, toIdentity } from "./claims.ts";
import { OidcError, toOidcError } from "./errors.ts";
import { createPendingSignIns, PENDING_MS, type PendingSignIn } from "./pending-sign-ins.ts";
import { createProviderCache, type Provider } from "./provider.ts";
import { type LogoutNotice, verifyAccessToken, verifyLogoutToken } from "./tokens.ts";

/** Path to which the OpenID provider sends browsers back. It must be registered at the provider. */
export const OIDC_CALLBACK_PATH = "/oauth/oidc/callback";

/**
 * Maximum age of the authentication at the provider when a person signs in again for a sensitive change, in seconds.
 * Half of the hour in which such changes are permitted, so that some of it remains.
 */
const AGAIN_S = 30 * 60;
/** Links from the callback to the page, which redeems them at once. */
const LINKS = { namespace: "oidc-links", lifetimeMs: 60_000, max: 500 } as const;
const NOTICES = "oidc-logout-notices";
/** Time after which a logout token has expired, in milliseconds. */
const NOTICE_MS = 15 * 60_000;
/** Larger ID tokens are not stored for the sign-out. */
const MAX_ID_TOKEN_CHARS = 16_000;

/** Failures that are logged per minute. */
const MAX_LINES = 20;

/** A sign-in that has started. */
interface StartedSignIn {
  /** Address of the provider's page. */
  readonly url: string;
  /** A `Set-Cookie` value. */
  readonly cookie: string;
}

/** Sign-in at an OpenID provider with an authorization code, PKCE, `state` and `nonce`. */
export interface OidcSignIn {
  /** Returns true if a provider is configured. */
  isOffered(): boolean;
  /**
   * Starts a sign-in.
   *
   * @throws OidcError if the provider does not respond
   */
  start(page: { readonly returnTo?: string; readonly again?: boolean }): Promise<StartedSignIn>;
  /**
   * Completes a sign-in. Returns the URL to which the browser is redirected. Its fragment contains the secret of a link
   * for this browser, or an error code.
   */
  finish(query: string, cookies: string | undefined): Promise<string>;
  /** Returns the session of a link from {@link finish} if the cookie belongs to the same browser. */
  redeem(secret: string, cookies: string | undefined): Promise<LinkGrant | undefined>;
  /** Returns the URL at which the browser ends its session at the provider, if the provider offers that. */
  getLogoutUrl(details: SessionDetails): Promise<string | undefined>;
  /** Verifies a logout token. Returns undefined if it is invalid or was used before. */
  readLogoutToken(token: string): Promise<LogoutNotice | undefined>;
  /** Returns the person of a valid access token. */
  checkAccessToken(token: string): Promise<(AdmittedPerson & { readonly expiresAt: number }) | undefined>;
  /** Address at which browsers reach the gateway. */
  publicUrl(): URL;
}

export interface OidcSignInOptions {
  readonly settings: () => OidcSettings | undefined;
  readonly publicUrl: () => string;
  readonly people: ExternalPeople;
  readonly kv: LinkValues;
  readonly now: () => number;
  readonly logger: Pick<Logger, "warn">;
}

export function createOidcSignIn(options: OidcSignInOptions): OidcSignIn {
  return new ProviderSignIn(options);
}

class ProviderSignIn implements OidcSignIn {
  readonly #options: OidcSignInOptions;
  readonly #pending: ReturnType<typeof createPendingSignIns>;
  readonly #links: ReturnType<typeof createSignInLinks>;
  readonly #getProvider: ReturnType<typeof createProviderCache>;
  #logged = { minute: 0, lines: 0 };

  constructor(options: OidcSignInOptions) {
    this.#options = options;
    this.#pending = createPendingSignIns(options.kv, options.now);
    this.#links = createSignInLinks(options.kv, options.now, LINKS);
    this.#getProvider = createProviderCache(options.now);
  }

  isOffered(): boolean {
    return this.#options.settings() !== undefined;
  }

  async start({ returnTo, again }: { readonly returnTo?: string; readonly again?: boolean }) {
    const settings = this.#getSettings();
    try {
      const { configuration } = await this.#getProvider(settings);
      const client = await import("openid-client");
      const { issuer, clientId } = settings;
      const [nonce, verifier, browser] = [
        client.randomNonce(),
        client.randomPKCECodeVerifier(),
        createSecret(),
      ];
      const redirectUri = this.#resolve(OIDC_CALLBACK_PATH);
      const maxAge = again === true ? AGAIN_S : undefined;
      const state = await this.#pending.add({
        ...{ nonce, verifier, issuer, clientId, redirectUri, maxAge },
        browser: hashToken(browser),
        returnTo: this.#getReturnUrl(returnTo),
      });
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: settings.scopes.join(" "),
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        ...{ state, nonce },
        ...(maxAge === undefined ? {} : { max_age: String(maxAge) }),
      });
      return { url: url.href, cookie: setSignInCookie(this.publicUrl(), browser, PENDING_MS) };
    } catch (error) {
      throw this.#report(error);
    }
  }

  async finish(query: string, cookies: string | undefined): Promise<string> {
    let returnTo = this.#resolve("/");
    try {
      const pending = await this.#pending.take(new URLSearchParams(query).get("state") ?? "");
      const browser = readSignInCookie(cookies, this.publicUrl()) ?? "";
      if (pending === undefined || pending.browser !== hashToken(browser))
        throw new OidcError("expired", "the sign-in is unknown, completed, or belongs to another browser");
      returnTo = pending.returnTo;
      const grant = await this.#exchange(query, pending);
      const { secret } = await this.#links.issue({ ...grant, browser: pending.browser });
      return `${returnTo}#sign-in=${secret}`;
    } catch (error) {
      return `${returnTo}#sign-in-error=${this.#report(error).code}`;
    }
  }

  redeem(secret: string, cookies: string | undefined): Promise<LinkGrant | undefined> {
    return this.#links.redeem(secret, readSignInCookie(cookies, this.publicUrl()));
  }

  async getLogoutUrl({ idToken }: SessionDetails): Promise<string | undefined> {
    const settings = this.#options.settings();
    if (settings === undefined) return undefined;
    try {
      const { configuration } = await this.#getProvider(settings);
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
      const { buildEndSessionUrl } = await import("openid-client");
      return buildEndSessionUrl(configuration, {
        post_logout_redirect_uri: this.#resolve("/"),
        ...(idToken === undefined ? {} : { id_token_hint: idToken }),
      }).href;
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  async readLogoutToken(token: string): Promise<LogoutNotice | undefined> {
    const { kv, now } = this.#options;
    try {
      const settings = this.#getSettings();
      const provider = await this.#getProvider(settings);
      const notice = await verifyLogoutToken(token, { provider, settings, now: now() });
      const key = hashToken(notice.id);
      if ((await kv.get(NOTICES, key)) !== undefined) return undefined;
      await kv.set(NOTICES, key, true, NOTICE_MS);
      return notice;
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  async checkAccessToken(token: string) {
    const settings = this.#options.settings();
    if (settings?.audience === undefined) return undefined;
    try {
      const provider = await this.#getProvider(settings);
      const now = this.#options.now();
      const { identity, expiresAt } = await verifyAccessToken(token, { provider, settings, now });
      const admitted = await this.#options.people.admit(identity);
      return admitted && { ...admitted, expiresAt };
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  publicUrl(): URL {
    return new URL(this.#options.publicUrl());
  }

  /** Exchanges the code, verifies the ID token, and admits the person. */
  async #exchange(query: string, pending: PendingSignIn): Promise<LinkGrant> {
    const settings = this.#getSettings();
    if (settings.issuer !== pending.issuer || settings.clientId !== pending.clientId)
      throw new OidcError("expired", "the provider was changed during the sign-in");
    const provider = await this.#getProvider(settings);
    const client = await import("openid-client");
    const state = new URLSearchParams(query).get("state") ?? "";
    const tokens = await client.authorizationCodeGrant(
      provider.configuration,
      new URL(`${pending.redirectUri}?${query}`),
      {
        pkceCodeVerifier: pending.verifier,
        expectedState: state,
        expectedNonce: pending.nonce,
        idTokenExpected: true,
        ...(pending.maxAge === undefined ? {} : { maxAge: pending.maxAge }),
      },
    );
    const claims = tokens.claims();
    if (claims === undefined) throw new OidcError("failed", "the provider sent no ID token");
    const person = await this.#admit(provider, claims, tokens.access_token, settings);
    const { auth_time: authTime, sid } = claims;
    const idToken = tokens.id_token ?? "";
    return {
      tokenHash: person.tokenHash,
      details: {
        method: "oidc",
        authenticatedAt: typeof authTime === "number" ? authTime * 1000 : 0,
        ...(typeof sid === "string" ? { sid } : {}),
        ...(idToken.length <= MAX_ID_TOKEN_CHARS ? { idToken } : {}),
      },
    };
  }

  async #admit(
    { configuration }: Provider,
    claims: { readonly sub: string; readonly [name: string]: unknown },
    accessToken: string,
    settings: OidcSettings,
  ): Promise<AdmittedPerson> {
    let known = claims;
    if (readGroups(claims, settings) === undefined && configuration.serverMetadata().userinfo_endpoint) {
      // Some providers send the groups only to the userinfo endpoint.
      const { fetchUserInfo } = await import("openid-client");
      known = {
        ...claims,
        ...(await fetchUserInfo(configuration, accessToken, claims.sub)),
        sub: claims.sub,
      };
    }
    const groups = readGroups(known, settings);
    const identity = toIdentity(known, settings, { groups: groups ?? [], asOf: this.#options.now() });
    const person = await this.#options.people.admit(identity);
    // A monitor reads the metrics with an access token and has nothing to see in the console.
    if (person !== undefined && person.principal.role !== "monitor") return person;
    const reason =
      groups === undefined
        ? `the provider sent no claim ${settings.groupsClaim}`
        : "none of the person's groups is in gateway.auth.roles";
    throw new OidcError("no_role", `${reason} (subject ${claims.sub})`);
  }

  #getSettings(): OidcSettings {
    const settings = this.#options.settings();
    if (settings === undefined) throw new OidcError("failed", "gateway.auth.oidc is not set");
    return settings;
  }

  /** Logs at most 20 errors per minute, because strangers can cause them and could fill the disk. */
  #report(error: unknown): OidcError {
    const failure = toOidcError(error);
    const minute = Math.floor(this.#options.now() / 60_000);
    if (minute !== this.#logged.minute) this.#logged = { minute, lines: 0 };
    this.#logged.lines += 1;
    const { code, message } = failure;
    if (this.#logged.lines <= MAX_LINES)
      this.#options.logger.warn({ code, err: message }, "a sign-in with the OpenID provider failed");
    return failure;
  }

  #resolve(path: string): string {
    return this.#options.publicUrl().replace(/\/+$/, "") + path;
  }

  /** Returns the URL of a page of the gateway. Any other address becomes the start page. */
  #getReturnUrl(returnTo: string | undefined): string {
    const { origin } = this.publicUrl();
    const url = returnTo?.startsWith("/") === true ? URL.parse(returnTo, origin) : null;
    return url?.origin === origin ? origin + url.pathname + url.search : this.#resolve("/");
  }
}
