import { createHash, randomUUID } from "node:crypto";
import { type FakeServer, listen, type SeenRequest } from "../http.ts";
import { createSigningKey, type SigningKey, signJwt, toJwk } from "./jwt.ts";

/** A person who signs in. The groups may change between two sign-ins. */
export interface FakePerson {
  readonly sub: string;
  readonly username?: string;
  readonly groups?: readonly string[];
}

/** Changes of an honest token that an attacker would make. */
export interface Forgery {
  readonly alg?: "RS256" | "HS256" | "none";
  /** Replaces claims. A value of `undefined` removes the claim. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Signs with a key that the provider does not publish. */
  readonly isForeignKey?: true;
  readonly typ?: string;
}

export interface FakeOidcProviderOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Redirect URIs that are registered. */
  readonly redirectUris: () => readonly string[];
  /** Sends the groups only to the userinfo endpoint. Default: false. */
  readonly hidesGroups?: boolean;
  /** Changes the metadata. */
  readonly metadata?: (metadata: Readonly<Record<string, unknown>>) => unknown;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

interface Code {
  readonly person: FakePerson;
  readonly nonce: string | null;
  readonly challenge: string;
  readonly redirectUri: string;
  readonly authTime: number;
  readonly sid: string;
}

/** A fake OpenID provider for one confidential client. */
export interface FakeOidcProvider extends Pick<FakeServer, "url" | "stop" | "answerAt"> {
  readonly requests: readonly SeenRequest[];
  /**
   * Signs a person in at the page of an authorization request. Returns the URL to which the browser is sent.
   *
   * @param authTime time at which the person entered the credentials, in seconds since the epoch. Default: now
   */
  approve(page: string, person: FakePerson, authTime?: number): URL;
  /** Declines an authorization request. */
  deny(page: string): URL;
  /** Changes the ID tokens that are issued from now on. */
  forge(forgery: Forgery | undefined): void;
  /** Issues an access token for an API. */
  issueAccessToken(person: FakePerson, audience: string, forgery?: Forgery): string;
  /** Issues a logout token. */
  issueLogoutToken(claims: Readonly<Record<string, unknown>>, forgery?: Forgery): string;
}

const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

/**
 * Starts an OpenID provider with the authorization code flow, PKCE, userinfo and RP-initiated logout. It refuses
 * unregistered redirect URIs, requests without PKCE, wrong client secrets, wrong verifiers, and codes that are used
 * twice.
 */
export async function startFakeOidcProvider(options: FakeOidcProviderOptions): Promise<FakeOidcProvider> {
  const { clientId, clientSecret, redirectUris, hidesGroups = false, now = Date.now } = options;
  const [key, foreign] = getKeys();
  const codes = new Map<string, Code>();
  const accessTokens = new Map<string, FakePerson>();
  const requests: SeenRequest[] = [];
  let forgery: Forgery | undefined;
  const seconds = (): number => Math.floor(now() / 1000);

  const issue = (claims: Readonly<Record<string, unknown>>, forged: Forgery = {}, typ = "JWT"): string => {
    const merged = { iss: server.url, iat: seconds(), exp: seconds() + 300, ...claims, ...forged.claims };
    return signJwt(merged, forged.isForeignKey === true ? foreign : key, {
      typ: forged.typ ?? typ,
      ...(forged.alg === undefined ? {} : { alg: forged.alg }),
    });
  };

  const describePerson = ({ sub, username, groups }: FakePerson) => ({
    sub,
    preferred_username: username ?? sub,
    groups: groups ?? [],
  });

  const exchange = (request: SeenRequest): Response => {
    const form = new URLSearchParams(request.text);
    const credentials = readBasic(String(request.headers["authorization"] ?? ""));
    if (credentials !== `${clientId}:${clientSecret}`) return refuse("invalid_client", 401);
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const verifier = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (code === undefined || code.challenge !== verifier || code.redirectUri !== form.get("redirect_uri"))
      return refuse("invalid_grant");
    const { person, nonce, authTime, sid } = code;
    const { groups, ...profile } = describePerson(person);
    const accessToken = randomUUID();
    accessTokens.set(accessToken, person);
    const idToken = issue(
      {
        aud: clientId,
        ...profile,
        ...(hidesGroups ? {} : { groups }),
        ...(nonce === null ? {} : { nonce }),
        ...{ auth_time: authTime, sid },
      },
      forgery,
    );
    return Response.json({
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: 300,
      id_token: idToken,
    });
  };

  const answerUserInfo = (request: SeenRequest): Response => {
    const token = String(request.headers["authorization"] ?? "").replace(/^Bearer /, "");
    const person = accessTokens.get(token);
    return person === undefined ? refuse("invalid_token", 401) : Response.json(describePerson(person));
  };

  const answer = (request: SeenRequest): Response => {
    switch (request.path.split("?")[0]) {
      case "/.well-known/openid-configuration":
        return Response.json(metadata());
      case "/jwks":
        return Response.json({ keys: [toJwk(key)] });
      case "/token":
        return exchange(request);
      case "/userinfo":
        return answerUserInfo(request);
      case "/authorize":
        return new Response(readRequest(request.path) === undefined ? "invalid_redirect_uri" : "sign in", {
          status: readRequest(request.path) === undefined ? 400 : 200,
        });
      default:
        return new Response("not found", { status: 404 });
    }
  };

  const server = await listen(async (request, response) => {
    requests.push(request);
    const { status, headers, body } = answer(request);
    response.writeHead(status, Object.fromEntries(headers));
    response.end(body === null ? "" : Buffer.from(await new Response(body).arrayBuffer()));
  });

  const metadata = (): unknown => {
    const usual = {
      issuer: server.url,
      authorization_endpoint: `${server.url}/authorize`,
      token_endpoint: `${server.url}/token`,
      userinfo_endpoint: `${server.url}/userinfo`,
      end_session_endpoint: `${server.url}/logout`,
      jwks_uri: `${server.url}/jwks`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
    };
    return options.metadata?.(usual) ?? usual;
  };

  /** Returns the parameters of a valid authorization request. */
  const readRequest = (page: string): URLSearchParams | undefined => {
    const { searchParams } = new URL(page, server.url);
    const isRegistered = redirectUris().includes(searchParams.get("redirect_uri") ?? "");
    return searchParams.get("client_id") === clientId && isRegistered ? searchParams : undefined;
  };

  /** @throws Error if the provider would show an error page instead */
  const goBack = (
    page: string,
    parameters: (asked: URLSearchParams) => Readonly<Record<string, string>>,
  ): URL => {
    const asked = readRequest(page);
    if (asked === undefined) throw new Error("the client or its redirect_uri is not registered");
    if (asked.get("code_challenge_method") !== "S256") throw new Error("PKCE is required");
    const back = new URL(asked.get("redirect_uri") ?? "");
    const state = asked.get("state");
    const all = { ...(state === null ? {} : { state }), iss: server.url, ...parameters(asked) };
    for (const [name, value] of Object.entries(all)) back.searchParams.set(name, value);
    return back;
  };

  return {
    url: server.url,
    stop: () => server.stop(),
    answerAt: (path, response) => server.answerAt(path, response),
    requests,
    approve: (page, person, authTime = seconds()) =>
      goBack(page, (asked) => {
        const code = randomUUID();
        codes.set(code, {
          person,
          nonce: asked.get("nonce"),
          challenge: asked.get("code_challenge") ?? "",
          redirectUri: asked.get("redirect_uri") ?? "",
          authTime,
          sid: randomUUID(),
        });
        return { code };
      }),
    deny: (page) => goBack(page, () => ({ error: "access_denied" })),
    forge: (next) => {
      forgery = next;
    },
    issueAccessToken: (person, audience, forged) =>
      issue({ aud: audience, ...describePerson(person) }, forged, "at+jwt"),
    issueLogoutToken: (claims, forged) =>
      issue(
        { aud: clientId, jti: randomUUID(), events: { [LOGOUT_EVENT]: {} }, ...claims },
        forged,
        "logout+jwt",
      ),
  };
}

let keys: readonly [published: SigningKey, foreign: SigningKey] | undefined;

/** All providers of a process have the same keys, because creating one takes long. Both have the same id. */
function getKeys(): readonly [published: SigningKey, foreign: SigningKey] {
  keys ??= [createSigningKey("key-1"), createSigningKey("key-1")];
  return keys;
}

/** Reads client credentials, whose two parts are form-encoded (RFC 6749, section 2.3.1). */
function readBasic(authorization: string): string {
  const encoded = /^Basic (.+)$/.exec(authorization)?.[1] ?? "";
  const parts = Buffer.from(encoded, "base64").toString().split(":");
  return parts.map((part) => decodeURIComponent(part.replaceAll("+", " "))).join(":");
}

function refuse(error: string, status = 400): Response {
  return Response.json({ error }, { status });
}
