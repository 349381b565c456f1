import { randomBytes } from "node:crypto";
import { type FakeServer, json, listen, type SeenRequest } from "../http.ts";
import type { Script } from "../script.ts";
import { startAnthropic } from "./server.ts";

/** The vendor's treatment of programs other than Claude Code. */
type ClaudePlanPolicy = "allowed" | "extra_usage_off" | "claude_code_only" | "organization_forbids";

/** A fake of the Messages API for tokens of `claude setup-token`. */
export interface FakeClaudePlan extends Pick<FakeServer, "url" | "answerAt" | "stop"> {
  readonly requests: readonly SeenRequest[];
  /** Issues a setup token. */
  issueToken(): string;
  expire(token: string): void;
  revoke(token: string): void;
  /** Changes the treatment of the next requests. Default: `allowed`. */
  setPolicy(policy: ClaudePlanPolicy): void;
}

/** Answers to valid tokens, in the vendor's words. */
const POLICIES = {
  extra_usage_off: {
    status: 400,
    type: "invalid_request_error",
    message:
      "Third-party apps now draw from your extra usage, not your plan limits. Add more at claude.ai/settings/usage and keep going.",
  },
  claude_code_only: {
    status: 400,
    type: "invalid_request_error",
    message:
      "This credential is only authorized for use with Claude Code and cannot be used for other API requests.",
  },
  organization_forbids: {
    status: 401,
    type: "authentication_error",
    message: "OAuth authentication is currently not allowed for this organization.",
  },
} as const;

/**
 * Starts the fake. Like the vendor, it requires the token as a bearer token and the beta `oauth-2025-04-20`, and
 * refuses unknown, expired and revoked tokens.
 */
export async function startFakeClaudePlan({ script }: { readonly script: Script }): Promise<FakeClaudePlan> {
  const model = await startAnthropic({ script });
  const tokens = new Map<string, "valid" | "expired" | "revoked">();
  const requests: SeenRequest[] = [];
  let policy: ClaudePlanPolicy = "allowed";

  const server = await listen(async (request, response) => {
    requests.push(request);
    const { method, path, headers, text } = request;
    const refuse = (status: number, type: string, message: string): void =>
      json(response, status, { type: "error", error: { type, message }, request_id: "req_fake" });
    if (method !== "POST" || path !== "/v1/messages") return refuse(404, "not_found_error", "Not found");
    const deny = (message: string): void => refuse(401, "authentication_error", message);
    if (headers["x-api-key"] !== undefined) return deny("invalid x-api-key");
    const token = /^Bearer (.+)$/.exec(String(headers.authorization))?.[1];
    if (token === undefined) return deny("x-api-key header is required");
    const betas = String(headers["anthropic-beta"] ?? "").split(",");
    if (!betas.includes("oauth-2025-04-20")) return deny("OAuth authentication is currently not supported.");
    const state = tokens.get(token);
    if (state === undefined) return deny("Invalid bearer token");
    if (state === "expired")
      return deny("OAuth token has expired. Please obtain a new token or refresh your existing token.");
    if (state === "revoked")
      return refuse(403, "permission_error", "OAuth token has been revoked. Please obtain a new token.");
    if (policy !== "allowed") {
      const { status, type, message } = POLICIES[policy];
      return refuse(status, type, message);
    }
    const answer = await fetch(`${model.url}/v1/messages`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "anthropic-version": String(headers["anthropic-version"]),
        "x-api-key": "any",
      },
      body: text,
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(await answer.text());
  });

  return {
    url: server.url,
    answerAt: server.answerAt,
    requests,
    issueToken() {
      const token = `sk-ant-oat01-${randomBytes(64).toString("base64url")}AA`;
      tokens.set(token, "valid");
      return token;
    },
    expire: (token) => void tokens.set(token, "expired"),
    revoke: (token) => void tokens.set(token, "revoked"),
    setPolicy(next) {
      policy = next;
    },
    async stop() {
      await Promise.all([server.stop(), model.stop()]);
    },
  };
}
