/** Time limit of the request, in milliseconds. */
const PROBE_MS = 15_000;
const MAX_SCOPE_CHARS = 2_000;

/** The server's own words about its sign-in. */
export interface SignInHint {
  /** The server refused a request without a token. */
  readonly wasAsked: boolean;
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
}

/**
 * Sends a request without a token, to read the challenge of the server (RFC 9728, section 5.1).
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization
 */
export async function probe(
  serverUrl: string,
  headers: Readonly<Record<string, string>> | undefined,
): Promise<SignInHint> {
  const [{ extractWWWAuthenticateParams }, { LATEST_PROTOCOL_VERSION }] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/auth.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const response = await fetch(serverUrl, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: {
        protocolVersion: LATEST_PROTOCOL_VERSION,
        capabilities: {},
        clientInfo: { name: "signalbox", version: "1" },
      },
    }),
    redirect: "manual",
    signal: AbortSignal.timeout(PROBE_MS),
  });
  await response.body?.cancel();
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  // Metadata of the server are at its own origin. Another address would be a request that the server chose.
  const isOwn = resourceMetadataUrl?.origin === new URL(serverUrl).origin;
  return {
    wasAsked: response.status === 401,
    resourceMetadataUrl: isOwn ? resourceMetadataUrl : undefined,
    scope: scope !== undefined && scope.length <= MAX_SCOPE_CHARS ? scope : undefined,
  };
}
