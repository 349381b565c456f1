import { limitResponse } from "@signalbox/channel";
import { describeErrors, isHeaderValue, REQUEST_MS, SubscriptionError } from "./errors.ts";

/** Base URL of the Responses API for ChatGPT subscriptions. */
export const CHATGPT_URL = "https://chatgpt.com/backend-api/codex";

const ISSUER = "https://auth.openai.com";
/** The public OAuth client of OpenAI's open-source Codex CLI. It has no secret. */
const CLIENT_ID = "app_EMoamEEZ73f0CkXaXp7hrann";
/** `offline_access` requests a refresh token. */
const SCOPE = "openid profile email offline_access";
/** The vendor accepts only these ports of `localhost` in the redirect URI. */
export const CALLBACK_PORTS: readonly number[] = [1455, 1457];
export const CALLBACK_PATH = "/auth/callback";
/** Name of this program. The vendor expects it in sign-ins and in each request. */
export const ORIGINATOR = "signalbox";
/** Claim of the access token that contains the id of the ChatGPT account. */
const ACCOUNT_CLAIM = "https://api.openai.com/auth";

/** Lifetime of a token for which the vendor states none, in seconds. */
const DEFAULT_LIFETIME_S = 3_600;

export interface SubscriptionTokens {
  readonly subscription: "chatgpt";
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly accountId: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface ChatGptOptions {
  /** Default: OpenAI's authorization server. */
  readonly issuer?: string;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Returns milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Sign-in with a ChatGPT account: authorization code with PKCE, refresh and revocation. */
export interface ChatGptSignIn {
  /** @param port port of `localhost` to which the browser returns */
  start(port: number): Promise<{
    /** The page that the person opens. */
    readonly url: string;
    /**
     * @param callback the URL at which the browser arrived
     * @throws SubscriptionError
     */
    finish(callback: URL): Promise<SubscriptionTokens>;
  }>;
  /** @throws SubscriptionError */
  refresh(tokens: SubscriptionTokens): Promise<SubscriptionTokens>;
  /** Returns false if the vendor did not confirm the revocation. */
  revoke(tokens: SubscriptionTokens): Promise<boolean>;
}

export function createChatGptSignIn(options: ChatGptOptions = {}): ChatGptSignIn {
  const { issuer = ISSUER, fetch: send = fetch, now = Date.now } = options;
  const server = {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
  };
  const client = { client_id: CLIENT_ID, token_endpoint_auth_method: "none" };
  const getOptions = async () => {
    const { allowInsecureRequests, customFetch } = await import("oauth4webapi");
    return {
      // A redirect would send a code or a token to another server.
      [customFetch]: async (url: string, init: object) =>
        limitResponse(await send(url, { ...init, redirect: "error" })),
      // A test uses a server on loopback.
      [allowInsecureRequests]: issuer.startsWith("http://127.0.0.1:"),
      signal: () => AbortSignal.timeout(REQUEST_MS),
    };
  };
  return {
    async start(port) {
      const oauth = await import("oauth4webapi");
      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      const redirectUri = `http://localhost:${port}${CALLBACK_PATH}`;
      const url = new URL(server.authorization_endpoint);
      url.search = new URLSearchParams({
        response_type: "code",
        client_id: CLIENT_ID,
        redirect_uri: redirectUri,
        scope: SCOPE,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
        id_token_add_organizations: "true",
        codex_cli_simplified_flow: "true",
        originator: ORIGINATOR,
      }).toString();
      return {
        url: url.href,
        finish: (callback) =>
          describeErrors("the sign-in failed", async () => {
            const parameters = oauth.validateAuthResponse(server, client, callback, state);
            const response = await oauth.authorizationCodeGrantRequest(
              server,
              client,
              oauth.None(),
              parameters,
              redirectUri,
              verifier,
              await getOptions(),
            );
            return readTokens(await oauth.processAuthorizationCodeResponse(server, client, response), now());
          }),
      };
    },
    refresh: (tokens) =>
      describeErrors("the sign-in could not be renewed", async () => {
        const oauth = await import("oauth4webapi");
        const response = await oauth.refreshTokenGrantRequest(
          server,
          client,
          oauth.None(),
          tokens.refreshToken,
          await getOptions(),
        );
        // The vendor refuses an expired, used or revoked refresh token with one of these.
        if (response.status === 400 || response.status === 401)
          throw new SubscriptionError("the sign-in has ended", true);
        const renewed = readTokens(
          {
            refresh_token: tokens.refreshToken,
            ...(await oauth.processRefreshTokenResponse(server, client, response)),
          },
          now(),
        );
        if (renewed.accountId !== tokens.accountId)
          throw new SubscriptionError("the vendor issued a token for another account", true);
        return renewed;
      }),
    async revoke({ refreshToken }) {
      // Unlike RFC 7009, the vendor expects JSON.
      const response = await send(`${issuer}/oauth/revoke`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ token: refreshToken, token_type_hint: "refresh_token", client_id: CLIENT_ID }),
        redirect: "error",
        signal: AbortSignal.timeout(REQUEST_MS),
      }).catch(() => undefined);
      await response?.body?.cancel();
      return response?.ok === true;
    },
  };
}

interface TokenResponse {
  readonly access_token: string;
  readonly refresh_token?: string | undefined;
  readonly expires_in?: number | undefined;
}

function readTokens(response: TokenResponse, now: number): SubscriptionTokens {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = response;
  if (refreshToken === undefined) throw new SubscriptionError("the vendor issued no refresh token");
  for (const token of [accessToken, refreshToken])
    if (!isHeaderValue(token)) throw new SubscriptionError("the vendor issued a malformed token");
  const accountId = readAccountId(accessToken);
  if (accountId === undefined)
    throw new SubscriptionError("the vendor issued a token without a ChatGPT account");
  const expiresAt = now + (seconds ?? DEFAULT_LIFETIME_S) * 1_000;
  return { subscription: "chatgpt", accessToken, refreshToken, accountId, expiresAt };
}

/** Reads the account from the payload of a JWT. The vendor verifies the signature. */
function readAccountId(token: string): string | undefined {
  try {
    const payload: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    const claim: unknown = Object(payload)[ACCOUNT_CLAIM];
    const id: unknown = Object(claim).chatgpt_account_id;
    return typeof id === "string" && /^[\w-]{1,100}$/.test(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
