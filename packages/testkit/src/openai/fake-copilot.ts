import { randomBytes } from "node:crypto";
import { type FakeServer, json, listen, parseJson, type SeenRequest } from "../http.ts";
import type { Script } from "../script.ts";
import { startOpenAI } from "./server.ts";

/** The state of the account and of the app at GitHub. */
type CopilotPolicy = "allowed" | "app_not_approved" | "feature_off" | "quota_exceeded" | "rate_limited";

/** A fake of GitHub's device flow and of the Chat Completions API of Copilot. */
export interface FakeCopilot extends Pick<FakeServer, "url" | "answerAt" | "stop"> {
  /** Requests with their bodies, in order. */
  readonly requests: readonly SeenRequest[];
  /** Enters a code on the page of the device flow. */
  enterCode(userCode: string, decision: "approve" | "deny"): void;
  /** Ends the lifetime of all device codes. */
  expireCodes(): void;
  /** Ends all sign-ins. */
  revoke(): void;
  /** Changes the answers to the next requests of the API. Default: `allowed`. */
  setPolicy(policy: CopilotPolicy): void;
}

export interface FakeCopilotOptions {
  readonly script: Script;
  /** The client id of the only registered OAuth app. */
  readonly clientId: string;
  /** Default: true. */
  readonly isDeviceFlowEnabled?: boolean;
  /** Minimum interval between two requests for a token, in seconds. Faster ones get `slow_down`. Default: 0. */
  readonly intervalS?: number;
  /** The page on which codes are entered. Default: one of the fake. */
  readonly verificationUri?: string;
  /** Returns milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

interface Device {
  readonly userCode: string;
  decision?: "approve" | "deny";
  isExpired: boolean;
  intervalS: number;
  lastAt: number;
}

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/**
 * Starts the fake. Like GitHub, it reports OAuth errors with status 200, increases the interval after fast requests,
 * and accepts only OAuth tokens, images with the header for them, and requests with an intent.
 */
export async function startFakeCopilot(options: FakeCopilotOptions): Promise<FakeCopilot> {
  const { script, clientId, isDeviceFlowEnabled = true, intervalS = 0, now = Date.now } = options;
  const model = await startOpenAI({ script });
  const devices = new Map<string, Device>();
  const tokens = new Set<string>();
  const requests: SeenRequest[] = [];
  let policy: CopilotPolicy = "allowed";

  function issueCode(url: string) {
    const letters = (): string => randomBytes(2).toString("hex").toUpperCase();
    const deviceCode = randomBytes(20).toString("hex");
    const userCode = `${letters()}-${letters()}`;
    devices.set(deviceCode, { userCode, isExpired: false, intervalS, lastAt: now() });
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: options.verificationUri ?? `${url}/login/device`,
      expires_in: 899,
      interval: Math.max(intervalS, 1),
    };
  }

  function exchange(form: URLSearchParams): object {
    const fail = (error: string, more: object = {}) => ({ error, error_description: `${error}.`, ...more });
    if (form.get("client_id") !== clientId) return fail("incorrect_client_credentials");
    if (form.get("grant_type") !== GRANT) return fail("unsupported_grant_type");
    const code = form.get("device_code") ?? "";
    const device = devices.get(code);
    if (device === undefined) return fail("incorrect_device_code");
    if (device.isExpired) return fail("expired_token");
    const isFast = now() - device.lastAt < device.intervalS * 1_000;
    device.lastAt = now();
    if (isFast) {
      device.intervalS += 5;
      return fail("slow_down", { interval: device.intervalS });
    }
    if (device.decision === undefined) return fail("authorization_pending");
    devices.delete(code);
    if (device.decision === "deny") return fail("access_denied");
    const token = `gho_${randomBytes(18).toString("hex")}`;
    tokens.add(token);
    return { access_token: token, token_type: "bearer", scope: "read:user" };
  }

  /** Returns the status and the body of a refusal by the API, if any. */
  function refuse({ headers, text, path }: SeenRequest): readonly [number, string] | undefined {
    const token = /^Bearer (.+)$/.exec(String(headers.authorization))?.[1];
    if (token === undefined) return [400, "bad request: Authorization header is badly formatted\n"];
    if (/^(?:ghp|github_pat)_/.test(token))
      return [
        400,
        "checking third-party user token: bad request: Personal Access Tokens are not supported for this endpoint\n",
      ];
    if (!tokens.has(token)) return [401, `unauthorized: unknown token ${token}\n`];
    if (policy === "app_not_approved") return [403, "forbidden: access denied\n"];
    if (policy === "feature_off") return [403, "unauthorized: not authorized to use this Copilot feature\n"];
    if (path === "/models") return undefined;
    if (policy === "quota_exceeded")
      return [402, JSON.stringify({ error: { message: "You have no quota", code: "quota_exceeded" } })];
    if (policy === "rate_limited")
      return [
        429,
        JSON.stringify({ error: { message: "Too many requests", code: "user_global_rate_limited" } }),
      ];
    if (headers["openai-intent"] === undefined) return [400, "bad request: missing Openai-Intent\n"];
    if (!["user", "agent"].includes(String(headers["x-initiator"])))
      return [400, "bad request: X-Initiator\n"];
    if (text.includes('"image_url"') && headers["copilot-vision-request"] !== "true")
      return [400, "missing required Copilot-Vision-Request header for vision requests\n"];
    return undefined;
  }

  const server = await listen(async (request, response) => {
    requests.push(request);
    const { method, path, text } = request;
    const route = `${method} ${path}`;
    const form = new URLSearchParams(text);
    if (route === "POST /login/device/code") {
      if (form.get("client_id") !== clientId) return json(response, 404, { error: "Not Found" });
      if (!isDeviceFlowEnabled)
        return json(response, 200, {
          error: "device_flow_disabled",
          error_description: "Device Flow must be explicitly enabled for this App",
        });
      return json(response, 200, issueCode(server.url));
    }
    if (route === "POST /login/oauth/access_token") return json(response, 200, exchange(form));
    if (route !== "GET /models" && route !== "POST /chat/completions")
      return json(response, 404, { message: "Not Found" });
    const refusal = refuse(request);
    if (refusal !== undefined) {
      response.writeHead(refusal[0], { "content-type": "text/plain; charset=utf-8" });
      response.end(refusal[1]);
      return;
    }
    if (route === "GET /models") return json(response, 200, { object: "list", data: MODELS });
    const body = Object(parseJson(text));
    const answer = await fetch(`${model.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer any" },
      body: JSON.stringify(body),
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(await answer.text());
  });

  return {
    url: server.url,
    answerAt: server.answerAt,
    requests,
    enterCode(userCode, decision) {
      const device = [...devices.values()].find((each) => each.userCode === userCode);
      if (device === undefined) throw new Error(`GitHub does not know the code ${userCode}.`);
      device.decision = decision;
    },
    expireCodes() {
      for (const device of devices.values()) device.isExpired = true;
    },
    revoke: () => tokens.clear(),
    setPolicy(next) {
      policy = next;
    },
    async stop() {
      await Promise.all([server.stop(), model.stop()]);
    },
  };
}

const MODELS = [
  {
    id: "gpt-5.2",
    name: "GPT-5.2",
    capabilities: { type: "chat", limits: { max_context_window_tokens: 128_000 } },
  },
  { id: "text-embedding-3-small", name: "Embedding", capabilities: { type: "embeddings" } },
];
