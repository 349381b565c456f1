import type { OAuthClientProvider, OAuthDiscoveryState } from "@modelcontextprotocol/sdk/client/auth.js";
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import { assertSafeEndpoint } from "./oauth-fetch.ts";
import { type McpOAuthSettings, McpSignInError } from "./types.ts";

export interface AttemptOptions {
  readonly serverUrl: string;
  readonly settings: McpOAuthSettings;
  readonly redirectUrl: string;
  readonly state: string;
  /** An authorization server on another host that a person has confirmed. */
  readonly confirmedIssuer?: string;
  /** True if the server asked for a token. Otherwise it must publish metadata. */
  readonly wasAsked: boolean;
}

/**
 * One sign-in: everything between the first request and the tokens. The SDK calls it for each step. Nothing is stored
 * before the sign-in is complete.
 */
export class SignInAttempt implements OAuthClientProvider {
  readonly #options: AttemptOptions;
  #client: OAuthClientInformationMixed | undefined;
  #verifier: string | undefined;
  #discovery: OAuthDiscoveryState | undefined;
  #tokens: OAuthTokens | undefined;
  /** The page that the person opens. Set by the first half of the sign-in. */
  authorizationUrl: URL | undefined;

  constructor(options: AttemptOptions) {
    this.#options = options;
    const { clientId, clientSecret } = options.settings;
    if (clientId !== undefined) this.#client = { client_id: clientId, client_secret: clientSecret };
  }

  get options(): AttemptOptions {
    return this.#options;
  }

  get redirectUrl(): string {
    return this.#options.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: "Signalbox",
      redirect_uris: [this.#options.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      ...(this.#options.settings.scope === undefined ? {} : { scope: this.#options.settings.scope }),
    };
  }

  state(): string {
    return this.#options.state;
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.#client;
  }

  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.#client = client;
  }

  /** Always undefined: a new sign-in never continues with old tokens. */
  tokens(): undefined {
    return undefined;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }

  get receivedTokens(): OAuthTokens | undefined {
    return this.#tokens;
  }

  redirectToAuthorization(url: URL): void {
    assertSafeEndpoint(url, this.#options.serverUrl);
    this.authorizationUrl = url;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    if (this.#verifier === undefined)
      throw new McpSignInError("unknown_state", "this sign-in was not started");
    return this.#verifier;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  /** Called before the client registers, so an unsafe authorization server receives nothing. */
  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    assertTrusted(discovery, this.#options);
    this.#discovery = discovery;
  }
}

/** @throws McpSignInError if the authorization server cannot be trusted */
function assertTrusted(
  {
    authorizationServerUrl: issuer,
    authorizationServerMetadata: metadata,
    resourceMetadata,
  }: OAuthDiscoveryState,
  { serverUrl, settings, confirmedIssuer, wasAsked }: AttemptOptions,
): void {
  const server = new URL(serverUrl);
  const authority = new URL(issuer);
  assertSafeEndpoint(authority, serverUrl);
  const host = authority.host;
  if (metadata === undefined) {
    if (!wasAsked && resourceMetadata === undefined)
      throw new McpSignInError("not_offered", "the server does not offer a sign-in");
    // Servers of the first specification are their own authorization server, at fixed paths.
    if (authority.origin !== server.origin)
      throw new McpSignInError("bad_metadata", `${host} publishes no metadata of an authorization server`);
  } else {
    // RFC 8414, section 3.3. Otherwise another server could pretend to be this one (mix-up). Servers of the first
    // specification name no issuer, so any at their own origin is theirs.
    const isOfServer = resourceMetadata === undefined && URL.parse(metadata.issuer)?.origin === server.origin;
    if (!isOfServer && !isSameIssuer(metadata.issuer, issuer))
      throw new McpSignInError(
        "bad_metadata",
        `the metadata of ${host} are those of ${shorten(metadata.issuer)}`,
      );
    if (metadata.code_challenge_methods_supported?.includes("S256") === false)
      throw new McpSignInError("bad_metadata", `${host} does not support PKCE with S256`);
    for (const endpoint of [
      metadata.authorization_endpoint,
      metadata.token_endpoint,
      metadata.registration_endpoint,
    ])
      if (endpoint !== undefined) assertSafeEndpoint(new URL(endpoint), serverUrl);
  }
  if (settings.issuer !== undefined) {
    if (isSameIssuer(settings.issuer, issuer)) return;
    throw new McpSignInError(
      "foreign_issuer",
      `the server names the authorization server ${shorten(issuer)}, but the configuration names ${settings.issuer}`,
      { issuer },
    );
  }
  const isOwn = authority.hostname === server.hostname || authority.hostname.endsWith(`.${server.hostname}`);
  if (isOwn || (confirmedIssuer !== undefined && isSameIssuer(confirmedIssuer, issuer))) return;
  throw new McpSignInError(
    "foreign_issuer",
    `the server wants you to sign in at another host: ${shorten(issuer)}`,
    {
      issuer,
    },
  );
}

/** Compares URLs of authorization servers. A slash at the end makes no difference. */
export function isSameIssuer(one: string, other: string): boolean {
  const [a, b] = [URL.parse(one), URL.parse(other)];
  return a !== null && b !== null && a.href.replace(/\/$/, "") === b.href.replace(/\/$/, "");
}

function shorten(text: string): string {
  return text.slice(0, 200).replace(/[\p{Cc}\p{Cf}]/gu, "");
}
