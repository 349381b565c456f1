import { readdirSync, readFileSync } from "node:fs";
import type { Model } from "@signalbox/agent-core";
import { describe, it } from "vitest";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { providerSuite } from "../src/testkit/index.ts";

const folder = new URL("./fixtures/anthropic/", import.meta.url);
const fixture = (name: string): string => readFileSync(new URL(name, folder), "utf8");

const model: Model = {
  id: "claude-sonnet-4-6",
  provider: "anthropic",
  api: "anthropic-messages",
  contextWindow: 200_000,
  maxOutputTokens: 8_000,
  input: ["text", "image", "file"],
  thinking: ["off", "low", "high"],
  tools: "native",
};

const refusal = (type: string, message: string): string =>
  JSON.stringify({ type: "error", error: { type, message }, request_id: "req_1" });

providerSuite(
  { describe, it },
  {
    provider: anthropicMessages,
    model,
    everyByte: process.env["EVERY_BYTE"] === "1",
    recordings: readdirSync(folder)
      .filter((name) => name.endsWith(".sse") && name !== "empty.sse")
      .map((name) => ({
        name: name.slice(0, -4),
        body: fixture(name),
        ends: name.startsWith("error") || name.startsWith("window") ? "error" : "finish",
      })),
    keepAlive: 'event: ping\ndata: {"type": "ping"}\n\n: comment\n\n',
    errorEvent: `event: error\ndata: ${refusal("overloaded_error", "Overloaded")}\n\n`,
    empty: fixture("empty.sse"),
    refusals: [
      {
        name: "a wrong key",
        status: 401,
        body: refusal("authentication_error", "invalid x-api-key"),
        code: "auth",
      },
      {
        name: "no credit",
        status: 400,
        body: refusal(
          "invalid_request_error",
          "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
        ),
        code: "billing",
      },
      {
        name: "too many requests",
        status: 429,
        headers: { "retry-after": "7" },
        body: refusal("rate_limit_error", "This request would exceed your organization's rate limit"),
        code: "rate_limit",
        retryAfterMs: 7_000,
      },
      {
        name: "overloaded",
        status: 529,
        body: refusal("overloaded_error", "Overloaded"),
        code: "overloaded",
      },
      {
        name: "a prompt that is too long",
        status: 400,
        body: refusal("invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"),
        code: "overflow",
      },
      {
        name: "a body that is too large",
        status: 413,
        body: refusal("request_too_large", "Too large"),
        code: "overflow",
      },
      {
        name: "an unknown model",
        status: 404,
        body: refusal("not_found_error", "model: nope"),
        code: "invalid",
      },
      { name: "a proxy's page", status: 502, body: "<html>Bad gateway</html>", code: "overloaded" },
    ],
  },
);
