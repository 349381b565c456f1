import { readCredentials, readTokens } from "./credentials.ts";
import { describeFailure } from "./describe-failure.ts";
import { createOAuthFetch } from "./oauth-fetch.ts";
import type { AuthorityFetch, McpCredentialStore, McpCredentials } from "./types.ts";

/** Time before the expiry of a token at which it is replaced, in milliseconds. */
const EARLY_MS = 60_000;
/** A younger token is not replaced before the server rejects it, in milliseconds. */
const MIN_AGE_MS = 30_000;
/** Maximum number of new tokens in a row that the server rejects. */
const MAX_REJECTED = 3;

/** A server asks for a sign-in, or for one with other scopes. */
export class SignInNeededError extends Error {
  override readonly name = "SignInNeededError";
}

export interface TokenSourceOptions {
  readonly server: string;
  readonly serverUrl: string;
  readonly store: McpCredentialStore;
  readonly fetch: AuthorityFetch;
  readonly now: () => number;
  /** Called with the scopes that a request needs and the token does not have. */
  readonly onMissingScope?: (scope: string) => void;
}

/** The access token of one server. Refreshes it, once for all concurrent requests. */
export class TokenSource {
  readonly #options: TokenSourceOptions;
  #refreshing: Promise<string> | undefined;
  /** New tokens in a row that the server rejected. */
  #rejected = 0;

  constructor(options: TokenSourceOptions) {
    this.#options = options;
  }

  /** Returns a token that has not expired. Returns undefined without a sign-in. */
  async get(): Promise<string | undefined> {
    const credentials = await this.#read();
    if (credentials === undefined) return undefined;
    const { accessToken, refreshToken, obtainedAt, expiresAt } = credentials;
    const now = this.#options.now();
    const isOld = expiresAt !== undefined && now >= expiresAt - EARLY_MS && now >= obtainedAt + MIN_AGE_MS;
    if (!isOld || refreshToken === undefined) return accessToken;
    try {
      return await this.replace(accessToken);
    } catch (error) {
      // The authorization server may be down for a moment while the token is still valid.
      if (now < expiresAt && !(error instanceof SignInNeededError)) return accessToken;
      throw error;
    }
  }

  /**
   * Replaces a token that the server rejected.
   *
   * @throws SignInNeededError if a person has to sign in again
   */
  replace(rejected: string): Promise<string> {
    this.#refreshing ??= this.#refresh(rejected).finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** Counts the response of the server to a token that was just replaced. */
  report(isAccepted: boolean): void {
    this.#rejected = isAccepted ? 0 : this.#rejected + 1;
  }

  /** Remembers scopes for the next sign-in. */
  requireScope(scope: string): void {
    this.#options.onMissingScope?.(scope);
  }

  /** Forgets earlier rejections, because a person signed in. */
  reset(): void {
    this.#rejected = 0;
  }

  #read(): Promise<McpCredentials | undefined> {
    const { store, server, serverUrl } = this.#options;
    return readCredentials(store, server, serverUrl);
  }

  #refresh(rejected: string): Promise<string> {
    const { store, server } = this.#options;
    return store.lock(server, async () => {
      const credentials = await this.#read();
      if (credentials === undefined) throw new SignInNeededError("it asks for a sign-in");
      // Another process has replaced the token already.
      if (credentials.accessToken !== rejected) return credentials.accessToken;
      if (credentials.refreshToken === undefined) return this.#end("its sign-in has expired");
      if (this.#rejected >= MAX_REJECTED)
        throw new SignInNeededError(`it rejected ${MAX_REJECTED} new tokens in a row`);
      return this.#requestTokens(credentials, credentials.refreshToken);
    });
  }

  async #requestTokens(credentials: McpCredentials, refreshToken: string): Promise<string> {
    const { store, server, serverUrl, fetch, now } = this.#options;
    const { issuer, client, metadata, resource } = credentials;
    const { refreshAuthorization } = await import("@modelcontextprotocol/sdk/client/auth.js");
    try {
      const tokens = await refreshAuthorization(issuer, {
        clientInformation: client,
        refreshToken,
        fetchFn: createOAuthFetch(fetch, serverUrl),
        ...(resource === undefined ? {} : { resource }),
        ...(metadata === undefined
          ? {}
          : {
              metadata: {
                ...metadata,
                response_types_supported: [...metadata.response_types_supported],
                token_endpoint_auth_methods_supported: [
                  ...(metadata.token_endpoint_auth_methods_supported ?? []),
                ],
              },
            }),
      });
      const fresh = readTokens(tokens, now());
      await store.set(server, { ...credentials, ...fresh, scope: fresh.scope ?? credentials.scope });
      return fresh.accessToken;
    } catch (error) {
      if (await isFinal(error)) return this.#end("its sign-in has ended");
      // The cause could contain the response of the authorization server, and with it a token.
      throw new Error(`its sign-in could not be renewed: ${describeFailure(error)}`);
    }
  }

  /** Removes credentials that are of no use any more. */
  async #end(reason: string): Promise<never> {
    await this.#options.store.set(this.#options.server, undefined);
    throw new SignInNeededError(reason);
  }
}

/** Returns true if the authorization server will never accept the refresh token again (RFC 6749, section 5.2). */
async function isFinal(error: unknown): Promise<boolean> {
  const { InvalidClientError, InvalidGrantError, UnauthorizedClientError } = await import(
    "@modelcontextprotocol/sdk/server/auth/errors.js"
  );
  return (
    error instanceof InvalidGrantError ||
    error instanceof InvalidClientError ||
    error instanceof UnauthorizedClientError
  );
}
