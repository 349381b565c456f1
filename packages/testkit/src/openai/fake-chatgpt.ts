import { createHash, randomUUID } from "node:crypto";
import { type FakeServer, json, listen, parseJson, type SeenRequest } from "../http.ts";
import type { Script } from "../script.ts";
import { startOpenAI } from "./server.ts";

/** A fake of the sign-in with ChatGPT and of its Responses API for subscriptions. */
export interface FakeChatGpt extends Pick<FakeServer, "url" | "answerAt" | "stop"> {
  /** Base URL of the Responses API. */
  readonly baseUrl: string;
  readonly requests: readonly SeenRequest[];
  /**
   * Signs a person in at the page of an authorization request. Returns the URL to which the browser is sent.
   *
   * @throws Error if the vendor would refuse the request
   */
  approve(page: string, account?: string): URL;
  /** Ends the lifetime of all access tokens. */
  expire(): void;
  /** Ends all sign-ins. */
  revoke(): void;
}

export interface FakeChatGptOptions {
  readonly script: Script;
  /** OAuth client. Default: that of the Codex CLI. */
  readonly clientId?: string;
}

interface Code {
  readonly account: string;
  readonly challenge: string;
  readonly redirectUri: string;
}

/** Fields that the vendor refuses for subscriptions. */
const REFUSED = ["max_output_tokens", "temperature", "top_p", "prompt_cache_retention"];
const LIFETIME_S = 864_000;

/**
 * Starts the fake. Like the vendor, it accepts each code and each refresh token once, ends the sign-in if a refresh
 * token is used again, and refuses other redirect URIs, requests without PKCE, requests for another account, `store`
 * and limits of the output.
 */
export async function startFakeChatGpt(options: FakeChatGptOptions): Promise<FakeChatGpt> {
  const { script, clientId = "app_EMoamEEZ73f0CkXaXp7hrann" } = options;
  const model = await startOpenAI({ script });
  const codes = new Map<string, Code>();
  /** Accounts of the valid tokens. */
  const access = new Map<string, string>();
  const refresh = new Map<string, string>();
  const used = new Set<string>();
  const requests: SeenRequest[] = [];

  const issue = (account: string) => {
    const payload = { "https://api.openai.com/auth": { chatgpt_account_id: account }, jti: randomUUID() };
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const accessToken = `${encode({ alg: "none" })}.${encode(payload)}.${randomUUID()}`;
    const refreshToken = `rt_${randomUUID()}`;
    access.set(accessToken, account);
    refresh.set(refreshToken, account);
    return {
      access_token: accessToken,
      refresh_token: refreshToken,
      token_type: "Bearer",
      expires_in: LIFETIME_S,
    };
  };
  const revoke = (): void => {
    access.clear();
    refresh.clear();
  };

  function exchangeCode(form: URLSearchParams) {
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (code === undefined || code.challenge !== challenge || code.redirectUri !== form.get("redirect_uri"))
      return undefined;
    return issue(code.account);
  }

  function exchangeRefreshToken(form: URLSearchParams) {
    const token = form.get("refresh_token") ?? "";
    const account = refresh.get(token);
    if (used.has(token)) revoke();
    if (account === undefined) return undefined;
    refresh.delete(token);
    used.add(token);
    return issue(account);
  }

  const server = await listen(async (request, response) => {
    requests.push(request);
    const { method, path, text, headers } = request;
    if (method === "POST" && path === "/oauth/token") {
      const form = new URLSearchParams(text);
      const isRefresh = form.get("grant_type") === "refresh_token";
      const tokens =
        form.get("client_id") !== clientId
          ? undefined
          : isRefresh
            ? exchangeRefreshToken(form)
            : exchangeCode(form);
      if (tokens !== undefined) return json(response, 200, tokens);
      if (isRefresh)
        return json(response, 401, {
          error: { code: "refresh_token_reused", type: "invalid_request_error" },
        });
      return json(response, 400, { error: "invalid_grant" });
    }
    if (method === "POST" && path === "/oauth/revoke") {
      const body = Object(parseJson(text));
      if (body.client_id !== clientId) return json(response, 400, { error: "invalid_client" });
      if (refresh.has(String(body.token))) revoke();
      return json(response, 200, {});
    }
    if (method === "POST" && path === "/backend-api/codex/responses") {
      const account = access.get(String(headers.authorization).replace(/^Bearer /, ""));
      if (account === undefined || account !== headers["chatgpt-account-id"])
        return json(response, 401, { detail: `Unauthorized: ${String(headers.authorization)}` });
      const body = Object(parseJson(text));
      const field = REFUSED.find((name) => name in body);
      if (field !== undefined) return json(response, 400, { detail: `Unsupported parameter: ${field}` });
      if (body.store !== false) return json(response, 400, { detail: "Store must be set to false" });
      if (body.stream !== true) return json(response, 400, { detail: "Stream must be set to true" });
      const answer = await fetch(`${model.baseUrl}/responses`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer any" },
        body: text,
      });
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
      response.end(await answer.text());
      return;
    }
    json(response, 404, { detail: "Not Found" });
  });

  return {
    url: server.url,
    baseUrl: `${server.url}/backend-api/codex`,
    requests,
    answerAt: server.answerAt,
    approve(page, account = "account-1") {
      const { searchParams: asked } = new URL(page);
      const redirectUri = asked.get("redirect_uri") ?? "";
      const challenge = asked.get("code_challenge") ?? "";
      const { hostname, pathname } = new URL(redirectUri);
      if (
        asked.get("client_id") !== clientId ||
        asked.get("response_type") !== "code" ||
        asked.get("code_challenge_method") !== "S256" ||
        challenge === "" ||
        hostname !== "localhost" ||
        pathname !== "/auth/callback"
      )
        throw new Error(`The vendor refuses this authorization request: ${page}`);
      const code = randomUUID();
      codes.set(code, { account, challenge, redirectUri });
      const callback = new URL(redirectUri);
      callback.search = new URLSearchParams({ code, state: asked.get("state") ?? "" }).toString();
      return callback;
    },
    expire: () => access.clear(),
    revoke,
    async stop() {
      await Promise.all([server.stop(), model.stop()]);
    },
  };
}
