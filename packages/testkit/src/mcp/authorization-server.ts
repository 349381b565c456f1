import { createHash, randomUUID } from "node:crypto";
import { type FakeServer, listen, type SeenRequest } from "../http.ts";

export interface FakeAuthorizationServerOptions {
  /** Authentication of clients at the token endpoint. Default: `none`, for public clients. */
  readonly authMethod?: "none" | "client_secret_basic" | "client_secret_post";
  /** Lifetime of access tokens that is stated, in seconds. Default: 3,600. */
  readonly lifetimeS?: number;
  /** Sends the `iss` parameter of RFC 9207. Default: true. */
  readonly sendsIss?: boolean;
  /** Changes the metadata. */
  readonly metadata?: (metadata: Readonly<Record<string, unknown>>) => unknown;
  /** Resource indicators for which tokens are issued. Default: any. */
  readonly resources?: () => readonly string[];
  /** Host name in its URLs. Default: `127.0.0.1`. */
  readonly host?: "127.0.0.1" | "localhost";
  readonly registers?: boolean;
}

interface Client {
  readonly id: string;
  readonly secret: string | undefined;
  readonly redirectUris: readonly string[];
}

/** A sign-in and everything that was issued for it. If an old refresh token is used again, all of it ends. */
interface Grant {
  readonly client: Client;
  readonly resource: string | null;
  readonly scope: string;
  refreshToken: string | undefined;
  accessTokens: Set<string>;
}

interface Code {
  readonly grant: Grant;
  readonly challenge: string;
  readonly redirectUri: string;
}

/** A fake authorization server that rotates, expires and revokes tokens. */
export interface FakeAuthorizationServer extends Pick<FakeServer, "url" | "stop" | "answerAt"> {
  readonly requests: readonly SeenRequest[];
  /** Signs a person in at the page of an authorization request. Returns the URL to which the browser is sent. */
  approve(page: string): Promise<URL>;
  /** Returns the scope of a valid access token for a resource. */
  check(accessToken: string, resource: string): string | undefined;
  /** Ends the lifetime of all access tokens. */
  expireAccessTokens(): void;
  /** Ends all sign-ins, as if the person had revoked them at the vendor. */
  revokeAll(): void;
  /** Number of sign-ins that still have a valid token. */
  activeGrants(): number;
  /** Number of requests at the token endpoint with this grant type. */
  tokenRequests(grantType: "authorization_code" | "refresh_token"): number;
}

/**
 * Starts an authorization server with dynamic registration (RFC 7591), PKCE (RFC 7636), refresh with rotation and
 * revocation (RFC 7009). It refuses what OAuth 2.1 tells servers to refuse.
 *
 * @see https://datatracker.ietf.org/doc/draft-ietf-oauth-v2-1/
 */
export async function startFakeAuthorizationServer({
  authMethod = "none",
  lifetimeS = 3_600,
  sendsIss = true,
  metadata: changeMetadata = (metadata) => metadata,
  resources,
  host = "127.0.0.1",
  registers = true,
}: FakeAuthorizationServerOptions = {}): Promise<FakeAuthorizationServer> {
  const clients = new Map<string, Client>();
  const codes = new Map<string, Code>();
  const usedCodes = new Map<string, Grant>();
  const grants: Grant[] = [];
  const oldRefreshTokens = new Map<string, Grant>();
  const requests: SeenRequest[] = [];
  let issuer = "";

  const end = (grant: Grant): void => {
    grant.refreshToken = undefined;
    grant.accessTokens = new Set();
  };

  const issue = (grant: Grant): Response => {
    const accessToken = `access-${randomUUID()}`;
    grant.accessTokens.add(accessToken);
    if (grant.refreshToken !== undefined) oldRefreshTokens.set(grant.refreshToken, grant);
    grant.refreshToken = `refresh-${randomUUID()}`;
    return json(200, {
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: lifetimeS,
      refresh_token: grant.refreshToken,
      scope: grant.scope,
    });
  };

  const authenticate = (request: SeenRequest, form: URLSearchParams): Client | undefined => {
    const basic = /^Basic (.+)$/.exec(String(request.headers["authorization"] ?? ""))?.[1];
    const [id, secret] =
      basic === undefined
        ? [form.get("client_id"), form.get("client_secret")]
        : Buffer.from(basic, "base64").toString().split(":").map(decodeURIComponent);
    const used = basic !== undefined ? "client_secret_basic" : secret ? "client_secret_post" : "none";
    const client = clients.get(id ?? "");
    if (client === undefined || used !== authMethod) return undefined;
    return client.secret === undefined || client.secret === secret ? client : undefined;
  };

  const register = (request: SeenRequest): Response => {
    const body = JSON.parse(request.text);
    const uris: unknown = body.redirect_uris;
    if (!Array.isArray(uris) || uris.length === 0 || !uris.every((uri) => URL.canParse(uri)))
      return fail("invalid_redirect_uri");
    const secret = authMethod === "none" ? undefined : `secret-${randomUUID()}`;
    const client = { id: `client-${randomUUID()}`, secret, redirectUris: uris };
    clients.set(client.id, client);
    return json(201, {
      ...body,
      client_id: client.id,
      client_secret: secret,
      token_endpoint_auth_method: authMethod,
    });
  };

  const authorize = (params: URLSearchParams): Response => {
    const client = clients.get(params.get("client_id") ?? "");
    const redirectUri = params.get("redirect_uri") ?? "";
    // Without a known client and address, nobody may be sent anywhere (RFC 6749, section 4.1.2.1).
    if (client?.redirectUris.includes(redirectUri) !== true) return fail("invalid_request");
    const back = new URL(redirectUri);
    const state = params.get("state");
    if (state !== null) back.searchParams.set("state", state);
    if (sendsIss) back.searchParams.set("iss", issuer);
    const challenge = params.get("code_challenge") ?? "";
    const resource = params.get("resource");
    const error =
      params.get("response_type") !== "code"
        ? "unsupported_response_type"
        : challenge.length < 43 || params.get("code_challenge_method") !== "S256"
          ? "invalid_request"
          : resources !== undefined && !resources().includes(resource ?? "")
            ? "invalid_target"
            : undefined;
    if (error !== undefined) back.searchParams.set("error", error);
    else {
      const code = `code-${randomUUID()}`;
      const scope = params.get("scope") ?? "";
      const grant = { client, resource, scope, refreshToken: undefined, accessTokens: new Set<string>() };
      grants.push(grant);
      codes.set(code, { grant, challenge, redirectUri });
      back.searchParams.set("code", code);
    }
    return new Response(null, { status: 302, headers: { location: back.href } });
  };

  const exchange = (request: SeenRequest): Response => {
    if (!String(request.headers["content-type"]).startsWith("application/x-www-form-urlencoded"))
      return fail("invalid_request");
    const form = new URLSearchParams(request.text);
    const client = authenticate(request, form);
    if (client === undefined) return fail("invalid_client", 401);
    if (form.get("grant_type") === "refresh_token") {
      const token = form.get("refresh_token") ?? "";
      const reused = oldRefreshTokens.get(token);
      // A refresh token that was already rotated is a stolen one (OAuth 2.1, section 4.3.1).
      if (reused !== undefined) end(reused);
      const grant = grants.find((one) => one.refreshToken === token && one.client === client);
      return grant === undefined ? fail("invalid_grant") : issue(grant);
    }
    if (form.get("grant_type") !== "authorization_code") return fail("unsupported_grant_type");
    const code = form.get("code") ?? "";
    const used = usedCodes.get(code);
    if (used !== undefined) end(used);
    const found = codes.get(code);
    codes.delete(code);
    const hash = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (found === undefined || found.grant.client !== client) return fail("invalid_grant");
    if (hash !== found.challenge || form.get("redirect_uri") !== found.redirectUri)
      return fail("invalid_grant");
    if (form.get("resource") !== found.grant.resource) return fail("invalid_target");
    usedCodes.set(code, found.grant);
    return issue(found.grant);
  };

  const revoke = (request: SeenRequest): Response => {
    const form = new URLSearchParams(request.text);
    if (authenticate(request, form) === undefined) return fail("invalid_client", 401);
    const token = form.get("token") ?? "";
    for (const grant of grants) {
      if (grant.refreshToken === token) end(grant);
      grant.accessTokens.delete(token);
    }
    // Unknown tokens are no error (RFC 7009, section 2.2).
    return new Response(null, { status: 200 });
  };

  const answer = (request: SeenRequest): Response => {
    const url = new URL(request.path, issuer);
    const at = `${request.method} ${url.pathname}`;
    if (at === "GET /.well-known/oauth-authorization-server")
      return json(
        200,
        changeMetadata({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          registration_endpoint: registers ? `${issuer}/register` : undefined,
          revocation_endpoint: `${issuer}/revoke`,
          response_types_supported: ["code"],
          grant_types_supported: ["authorization_code", "refresh_token"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: [authMethod],
          authorization_response_iss_parameter_supported: sendsIss,
        }),
      );
    if (at === "POST /register" && registers) return register(request);
    if (at === "GET /authorize") return authorize(url.searchParams);
    if (at === "POST /token") return exchange(request);
    if (at === "POST /revoke") return revoke(request);
    return json(404, { error: "not_found" });
  };

  const server = await listen(async (request, response) => {
    requests.push(request);
    const { status, headers, body } = answer(request);
    response.writeHead(status, Object.fromEntries(headers));
    response.end(body === null ? undefined : Buffer.from(await new Response(body).arrayBuffer()));
  });
  issuer = server.url.replace("127.0.0.1", host);

  return {
    url: issuer,
    requests,
    stop: () => server.stop(),
    answerAt: server.answerAt,
    async approve(page) {
      const response = await fetch(page, { redirect: "manual" });
      const location = response.headers.get("location");
      if (location === null)
        throw new Error(`the page answered ${response.status}: ${await response.text()}`);
      return new URL(location);
    },
    check: (accessToken, resource) =>
      grants.find((grant) => grant.accessTokens.has(accessToken) && grant.resource === resource)?.scope,
    expireAccessTokens() {
      for (const grant of grants) grant.accessTokens = new Set();
    },
    revokeAll: () => grants.forEach(end),
    activeGrants: () =>
      grants.filter(({ refreshToken, accessTokens }) => refreshToken !== undefined || accessTokens.size > 0)
        .length,
    tokenRequests: (grantType) =>
      requests.filter(
        ({ path, text }) => path === "/token" && new URLSearchParams(text).get("grant_type") === grantType,
      ).length,
  };
}

function json(status: number, body: unknown): Response {
  return Response.json(body, { status });
}

function fail(error: string, status = 400): Response {
  return json(status, { error, error_description: "refused by the fake server" });
}
