import { expect, test } from "vitest";
import { googleGenerative } from "../src/google/index.ts";
import { mistralChat } from "../src/mistral/index.ts";
import { openaiChat } from "../src/openai-chat/index.ts";
import { openaiResponses } from "../src/openai-responses/index.ts";
import type { WireAnswer } from "../src/testkit/index.ts";
import { fixtures, testModel } from "./support/fixtures.ts";
import { type Replay, replay } from "./support/replay.ts";

const vendors: Readonly<Record<string, Replay & { readonly accepted: Buffer | undefined }>> = {
  "openai-chat": {
    provider: openaiChat,
    model: testModel("openai-chat", "m"),
    baseUrl: "https://api.openai.com/v1",
    accepted: fixtures("openai-chat").get("text"),
  },
  "openai-responses": {
    provider: openaiResponses,
    model: testModel("openai-responses", "m"),
    baseUrl: "https://api.openai.com/v1",
    accepted: fixtures("openai-responses").get("text"),
  },
  mistral: {
    provider: mistralChat,
    model: testModel("mistral-chat", "m"),
    baseUrl: "https://api.mistral.ai",
    accepted: fixtures("mistral").get("text"),
  },
  google: {
    provider: googleGenerative,
    model: testModel("google-generative", "m"),
    baseUrl: "https://generativelanguage.googleapis.com",
    accepted: fixtures("google").get("text"),
  },
};

interface Ids {
  readonly started: string | undefined;
  readonly failed: string | undefined;
  readonly code: string | undefined;
}

/** Returns the request ids that a response leads to. */
async function ids(vendor: string, answer: WireAnswer): Promise<Ids> {
  const asked = vendors[vendor];
  if (asked === undefined) throw new Error(`no vendor is called ${vendor}`);
  const { events, error } = await replay(asked, answer);
  const [start] = events;
  return {
    started: start?.type === "start" ? start.request.requestId : undefined,
    failed: error?.requestId,
    code: error?.code,
  };
}

const accepted = (vendor: string, headers: Record<string, string>): Promise<Ids> =>
  ids(vendor, { headers, pieces: [vendors[vendor]?.accepted ?? Buffer.of()] });

/** In the vendor's own format, and as a proxy's page. */
const refusals: readonly [type: string, body: string][] = [
  [
    "application/json",
    '{"message":"Slow down.","code":429,"error":{"code":429,"message":"Slow down.","status":"RESOURCE_EXHAUSTED"}}',
  ],
  ["text/html", "<html>Slow down.</html>"],
];

const refused = (
  vendor: string,
  headers: Record<string, string>,
  [type, body]: readonly [type: string, body: string],
): Promise<Ids> =>
  ids(vendor, { status: 429, headers: { "content-type": type, ...headers }, pieces: [Buffer.from(body)] });

test.each([
  ["openai-chat", { "x-request-id": "req_1" }],
  ["openai-responses", { "x-request-id": "req_1" }],
  ["mistral", { "mistral-correlation-id": "req_1" }],
  ["mistral", { "x-kong-request-id": "req_1" }],
  ["mistral", { "x-kong-request-id": "kong_1", "mistral-correlation-id": "req_1" }],
])("%s reports the request id in %j, whether the vendor accepts or refuses", async (vendor, headers) => {
  expect(await accepted(vendor, headers)).toEqual({ started: "req_1", failed: undefined, code: undefined });
  for (const refusal of refusals)
    expect(await refused(vendor, headers, refusal)).toMatchObject({ failed: "req_1", code: "rate_limit" });
});

// The Gemini API sends no id, but a gateway in front of it may.
test("google reports a gateway's request id", async () => {
  expect((await accepted("google", { "x-request-id": "req_1" })).started).toBe("req_1");
});

test.each(Object.keys(vendors))("%s reports no request id if there is none", async (vendor) => {
  expect(await accepted(vendor, {})).toEqual({ started: undefined, failed: undefined, code: undefined });
  for (const refusal of refusals)
    expect(await refused(vendor, {}, refusal)).toMatchObject({ failed: undefined, code: "rate_limit" });
});
