/** OAuth settings of a server. All are optional: discovery and dynamic registration supply the rest. */
export interface McpOAuthSettings {
  /** Id of a client that was registered by hand. Default: the client registers itself. */
  readonly clientId?: string;
  /** Sent only to `issuer`, which is required with it. */
  readonly clientSecret?: string;
  /** URL of the only authorization server that is accepted. */
  readonly issuer?: string;
  /** Scopes, separated by spaces. Default: those that the server names. */
  readonly scope?: string;
}

/** The OAuth client that an authorization server knows. */
interface StoredClient {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly token_endpoint_auth_method?: string;
}

/** Endpoints and capabilities of an authorization server that later requests need (RFC 8414). */
interface StoredMetadata {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly response_types_supported: readonly string[];
  readonly revocation_endpoint?: string;
  readonly token_endpoint_auth_methods_supported?: readonly string[];
}

/** The result of a sign-in. Contains secrets. JSON. */
export interface McpCredentials {
  /** URL of the server. The tokens are sent to no other one. */
  readonly serverUrl: string;
  /** URL of the authorization server, which alone receives the refresh token. */
  readonly issuer: string;
  readonly client: StoredClient;
  /** Absent for servers of the first specification, which publish no metadata. */
  readonly metadata?: StoredMetadata;
  /** Resource indicator (RFC 8707). */
  readonly resource?: string;
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly scope?: string;
  /** Milliseconds since the epoch. */
  readonly obtainedAt: number;
  /** Milliseconds since the epoch. Absent if the authorization server did not state a lifetime. */
  readonly expiresAt?: number;
}

/** Stores credentials by the name of the server. Keep them as secret as a password. */
export interface McpCredentialStore {
  get(server: string): Promise<unknown>;
  /** Without credentials, removes the stored ones. */
  set(server: string, credentials: McpCredentials | undefined): Promise<void>;
  /**
   * Runs `work` while no other process changes the credentials of this server. Two processes that use the same refresh
   * token make many authorization servers end the sign-in.
   */
  lock<Result>(server: string, work: () => Promise<Result>): Promise<Result>;
}

/** @param serverUrl the configured URL of the MCP server that named the address */
export type AuthorityFetch = (
  url: string | URL,
  init: RequestInit | undefined,
  serverUrl: string,
) => Promise<Response>;

export interface McpSignInOptions {
  /** Default: in memory. */
  readonly store?: McpCredentialStore;
  /**
   * Sends requests to authorization servers, whose addresses a hostile server chooses. A host passes a function that
   * refuses private addresses other than that of the server. Default: the global `fetch`.
   */
  readonly fetch?: AuthorityFetch;
  /** URL that browsers reach and whose requests the host passes to `finish`. Default: `http://127.0.0.1/callback`. */
  readonly redirectUrl?: () => string;
}

/** Reasons why a sign-in fails. */
export type McpSignInErrorCode =
  | "unknown_server"
  /** The server does not offer a sign-in. */
  | "not_offered"
  /** The authorization server is on another host and was not confirmed. */
  | "foreign_issuer"
  /** The metadata of the authorization server are invalid or unsafe. */
  | "bad_metadata"
  /** The authorization server cannot be reached or refused the request. */
  | "refused"
  /** The sign-in is unknown, has expired or was already used. */
  | "unknown_state"
  /** The browser came back from another authorization server. */
  | "wrong_issuer"
  /** The person or the authorization server refused. */
  | "denied";

/** A sign-in failed. The message contains no secret. */
export class McpSignInError extends Error {
  override readonly name = "McpSignInError";
  readonly code: McpSignInErrorCode;
  /** The authorization server, if it is known. */
  readonly issuer: string | undefined;

  constructor(code: McpSignInErrorCode, message: string, options?: ErrorOptions & { issuer?: string }) {
    super(message, options);
    this.code = code;
    this.issuer = options?.issuer;
  }
}

/** A sign-in that waits for a person. */
interface StartedSignIn {
  /** The page of the authorization server that the person opens. */
  readonly url: string;
  readonly issuer: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

interface McpSignInStatus {
  readonly state: "signed_in" | "signed_out";
  readonly issuer?: string;
  readonly scope?: string;
  /** Milliseconds since the epoch. A token that can be refreshed is replaced before. */
  readonly expiresAt?: number;
  readonly canRefresh?: boolean;
}

/** Sign-in at servers over HTTP, with OAuth 2.1. */
export interface McpSignIn {
  /**
   * Prepares a sign-in: discovers the authorization server, registers a client and returns the page to open.
   *
   * @param issuer confirms an authorization server on another host than the server
   * @throws McpSignInError
   */
  start(server: string, issuer?: string): Promise<StartedSignIn>;
  /**
   * Completes a sign-in.
   *
   * @param callback the URL to which the authorization server sent the browser
   * @returns the name of the server
   * @throws McpSignInError
   */
  finish(callback: URL): Promise<string>;
  /** Removes the credentials and revokes them at the authorization server (RFC 7009). */
  signOut(server: string): Promise<{ readonly wasSignedIn: boolean; readonly isRevoked: boolean }>;
  status(server: string): Promise<McpSignInStatus>;
}
