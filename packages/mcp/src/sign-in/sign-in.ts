import { randomBytes } from "node:crypto";
import { createMemoryCredentials, readCredentials, readTokens } from "./credentials.ts";
import { describeFailure } from "./describe-failure.ts";
import { createOAuthFetch } from "./oauth-fetch.ts";
import { probe } from "./probe.ts";
import { isSameIssuer, SignInAttempt } from "./provider.ts";
import { revoke } from "./revoke.ts";
import { TokenSource } from "./token-source.ts";
import {
  type McpCredentials,
  type McpOAuthSettings,
  type McpSignIn,
  McpSignInError,
  type McpSignInOptions,
} from "./types.ts";

/** Time limit for a person to sign in, in milliseconds. */
const ATTEMPT_MS = 10 * 60_000;
/** Maximum number of sign-ins that wait for a person. A new one replaces the oldest. */
const MAX_ATTEMPTS = 16;
const MAX_CODE_CHARS = 4_096;

/** A server over HTTP that a person can sign in to. */
interface SignInServer {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly oauth?: McpOAuthSettings;
}

interface PendingAttempt {
  readonly server: string;
  readonly attempt: SignInAttempt;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface SignInServices extends McpSignInOptions {
  readonly now: () => number;
  /** Returns the settings of a server over HTTP. */
  readonly getServer: (name: string) => SignInServer | undefined;
  /** Called after a sign-in or a sign-out. */
  readonly onChange: (server: string) => void;
}

/** The part of the sign-in that connections use. */
export interface SignIns extends McpSignIn {
  createTokens(server: string, serverUrl: string): TokenSource;
}

export function createSignIns({
  store = createMemoryCredentials(),
  fetch = (url, init) => globalThis.fetch(url, init),
  redirectUrl = () => "http://127.0.0.1/callback",
  now,
  getServer,
  onChange,
}: SignInServices): SignIns {
  /** By state, which is the secret that binds the browser's return to the sign-in. */
  const pending = new Map<string, PendingAttempt>();
  /** Scopes that requests needed, by server. The next sign-in requests them. */
  const missingScopes = new Map<string, string>();

  const requireServer = (name: string): SignInServer => {
    const server = getServer(name);
    if (server !== undefined) return server;
    throw new McpSignInError("unknown_server", `there is no MCP server ${name} with an address`);
  };

  const removeExpired = (): void => {
    for (const [state, { expiresAt }] of pending) if (now() >= expiresAt) pending.delete(state);
    while (pending.size >= MAX_ATTEMPTS) pending.delete(pending.keys().next().value ?? "");
  };

  return {
    async start(name, confirmedIssuer) {
      const { url, headers, oauth: settings = {} } = requireServer(name);
      const oauthFetch = createOAuthFetch(fetch, url);
      const hint = await probe(url, headers).catch((error: unknown) => {
        throw new McpSignInError("refused", `the server cannot be reached: ${describeFailure(error)}`);
      });
      const state = randomBytes(32).toString("base64url");
      const attempt = new SignInAttempt({
        serverUrl: url,
        settings,
        redirectUrl: redirectUrl(),
        state,
        confirmedIssuer,
        wasAsked: hint.wasAsked,
      });
      await authorize(attempt, {
        scope: missingScopes.get(name) ?? settings.scope ?? hint.scope,
        resourceMetadataUrl: hint.resourceMetadataUrl,
        fetchFn: oauthFetch,
      });
      const { authorizationUrl } = attempt;
      const issuer = attempt.discoveryState()?.authorizationServerUrl;
      if (authorizationUrl === undefined || issuer === undefined)
        throw new McpSignInError("refused", "the authorization server named no page to sign in");
      removeExpired();
      const expiresAt = now() + ATTEMPT_MS;
      pending.set(state, { server: name, attempt, expiresAt });
      return { url: authorizationUrl.href, issuer, expiresAt };
    },

    async finish(callback) {
      const state = callback.searchParams.get("state") ?? "";
      const found = pending.get(state);
      // A state works once, even if the sign-in fails.
      pending.delete(state);
      if (found === undefined || now() >= found.expiresAt)
        throw new McpSignInError(
          "unknown_state",
          "this sign-in is unknown, has expired or was already used; start it again",
        );
      const { server, attempt } = found;
      const code = readCode(callback, attempt);
      const { url } = requireServer(server);
      if (url !== attempt.options.serverUrl)
        throw new McpSignInError("unknown_server", `the address of the MCP server ${server} has changed`);
      await authorize(attempt, { authorizationCode: code, fetchFn: createOAuthFetch(fetch, url) });
      const credentials = toCredentials(attempt, now());
      await store.lock(server, () => store.set(server, credentials));
      missingScopes.delete(server);
      onChange(server);
      return server;
    },

    async signOut(name) {
      const { url } = requireServer(name);
      const credentials = await store.lock(name, async () => {
        const stored = await readCredentials(store, name, url);
        await store.set(name, undefined);
        return stored;
      });
      onChange(name);
      if (credentials === undefined) return { wasSignedIn: false, isRevoked: false };
      const isRevoked = await revoke(credentials, createOAuthFetch(fetch, url)).catch(() => false);
      return { wasSignedIn: true, isRevoked };
    },

    async status(name) {
      const { url } = requireServer(name);
      const stored = await readCredentials(store, name, url);
      if (stored === undefined) return { state: "signed_out" };
      const { issuer, scope, expiresAt, refreshToken } = stored;
      return { state: "signed_in", issuer, scope, expiresAt, canRefresh: refreshToken !== undefined };
    },

    createTokens: (server, serverUrl) =>
      new TokenSource({
        server,
        serverUrl,
        store,
        fetch,
        now,
        onMissingScope: (scope) => missingScopes.set(server, scope),
      }),
  };
}

type AuthorizeOptions = Omit<
  Parameters<typeof import("@modelcontextprotocol/sdk/client/auth.js").auth>[1],
  "serverUrl"
>;

/** Runs one half of the sign-in. @throws McpSignInError */
async function authorize(attempt: SignInAttempt, options: AuthorizeOptions): Promise<void> {
  const { auth } = await import("@modelcontextprotocol/sdk/client/auth.js");
  try {
    await auth(attempt, { ...options, serverUrl: attempt.options.serverUrl });
  } catch (error) {
    if (error instanceof McpSignInError) throw error;
    throw new McpSignInError("refused", `the sign-in failed: ${describeFailure(error)}`);
  }
}

/**
 * Returns the code of the browser's return.
 *
 * @throws McpSignInError if there is none, or if it comes from another authorization server
 */
function readCode({ searchParams: params }: URL, attempt: SignInAttempt): string {
  const discovery = attempt.discoveryState();
  const issuer = discovery?.authorizationServerMetadata?.issuer ?? discovery?.authorizationServerUrl ?? "";
  const iss = params.get("iss");
  // RFC 9207: the response names its sender, so that a code cannot be exchanged at another server (mix-up).
  const mustName =
    getMember(discovery?.authorizationServerMetadata, "authorization_response_iss_parameter_supported") ===
    true;
  if (iss === null ? mustName : !isSameIssuer(iss, issuer))
    throw new McpSignInError(
      "wrong_issuer",
      "the response does not come from the authorization server that was asked",
    );
  const error = params.get("error");
  if (error !== null)
    throw new McpSignInError(
      "denied",
      `the authorization server refused: ${error.slice(0, 60).replace(/[^\w.-]/g, "")}`,
    );
  const code = params.get("code") ?? "";
  if (code === "" || code.length > MAX_CODE_CHARS)
    throw new McpSignInError("denied", "the authorization server sent no code");
  return code;
}

/** Returns a member that the SDK's type does not contain for every kind of metadata. */
function getMember(from: object | undefined, name: string): unknown {
  return from === undefined ? undefined : Reflect.get(from, name);
}

function toCredentials(attempt: SignInAttempt, now: number): McpCredentials {
  const tokens = attempt.receivedTokens;
  const client = attempt.clientInformation();
  const discovery = attempt.discoveryState();
  if (tokens === undefined || client === undefined || discovery === undefined)
    throw new McpSignInError("refused", "the authorization server issued no token");
  const metadata = discovery.authorizationServerMetadata;
  const revocation = getMember(metadata, "revocation_endpoint");
  const method = getMember(client, "token_endpoint_auth_method");
  return {
    serverUrl: attempt.options.serverUrl,
    issuer: discovery.authorizationServerUrl,
    client: {
      client_id: client.client_id,
      client_secret: client.client_secret,
      token_endpoint_auth_method: typeof method === "string" ? method : undefined,
    },
    metadata: metadata && {
      issuer: metadata.issuer,
      authorization_endpoint: metadata.authorization_endpoint,
      token_endpoint: metadata.token_endpoint,
      response_types_supported: metadata.response_types_supported,
      revocation_endpoint: typeof revocation === "string" ? revocation : undefined,
      token_endpoint_auth_methods_supported: metadata.token_endpoint_auth_methods_supported,
    },
    resource: discovery.resourceMetadata?.resource,
    ...readTokens(tokens, now),
  };
}
