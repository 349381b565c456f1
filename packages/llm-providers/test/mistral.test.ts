import { describe, expect, it, test } from "vitest";
import { mistralChat } from "../src/mistral/index.ts";
import { providerSuite } from "../src/testkit/index.ts";
import { result, tools, user } from "./support/conversations.ts";
import { brief, expectedBriefs, fixtures, recordedStreams, testModel } from "./support/fixtures.ts";
import { readToEnd, replay } from "./support/replay.ts";
import { bodyOf } from "./support/requests.ts";

const baseUrl = "https://api.mistral.ai";
const model = testModel("mistral-chat", "mistral-medium-3.5");
const streams = fixtures("mistral");
const expected = expectedBriefs("mistral");

const refusal = (message: unknown, type: string, code: string | null): string =>
  JSON.stringify({ object: "error", message, type, param: null, code });

providerSuite(
  { describe, it },
  {
    provider: mistralChat,
    model,
    everyByte: process.env["EVERY_BYTE"] === "1",
    recordings: recordedStreams("mistral"),
    keepAlive: ": ping\n\n",
    errorEvent: `data: ${refusal("Service unavailable.", "service_unavailable", "1100")}\n\n`,
    empty: streams.get("empty")?.toString() ?? "",
    refusals: [
      { name: "a wrong key", status: 401, body: '{"detail":"Unauthorized"}', code: "auth" },
      {
        name: "too many requests",
        status: 429,
        headers: { "retry-after": "2" },
        body: refusal("Rate limit exceeded", "rate_limited", "1300"),
        code: "rate_limit",
        retryAfterMs: 2000,
      },
      {
        name: "no capacity",
        status: 429,
        body: refusal(
          "Service tier capacity exceeded for this model.",
          "service_tier_capacity_exceeded",
          "3505",
        ),
        code: "overloaded",
      },
      {
        name: "a window that is too small",
        status: 400,
        body: refusal(
          "Prompt contains 20 tokens, too large for model with 10 maximum context length",
          "invalid_request_prompt",
          "3051",
        ),
        code: "overflow",
      },
      {
        name: "a body that does not fit",
        status: 422,
        body: refusal(
          {
            detail: [{ type: "extra_forbidden", loc: ["body", "x"], msg: "Extra inputs are not permitted" }],
          },
          "invalid_request_error",
          null,
        ),
        code: "invalid",
      },
      { name: "a proxy's page", status: 502, body: "<html>Bad gateway</html>", code: "overloaded" },
    ],
  },
);

test.each([...streams])("reads %s as expected", async (name, bytes) => {
  const told = await replay({ provider: mistralChat, model, baseUrl }, { pieces: [bytes] });
  expect(brief(told.message)).toEqual(expected[name]);
});

test("sends a complete request with the model's thinking and a bridge before a user message", async () => {
  const bytes = streams.get("thinking-and-parallel-tools") ?? Buffer.of();
  const { message } = await replay({ provider: mistralChat, model, baseUrl }, { pieces: [bytes] });
  const results = [
    result("abcdefgh1", "read_file", [{ type: "text", text: "A" }]),
    result("abcdefgh2", "now", []),
  ];
  const body = await bodyOf(
    mistralChat,
    { ...model, thinking: ["off", "high"] },
    {
      context: {
        system: { stable: "S.", volatile: "V." },
        messages: [user("Read."), message, ...results, user("Stop.")],
        tools: tools.slice(1),
      },
      options: {
        thinking: "high",
        temperature: 0.2,
        stopSequences: ["END"],
        maxOutputTokens: 50,
        sessionId: "s",
        toolChoice: "required",
        extra: { random_seed: 7 },
      },
    },
    baseUrl,
  );
  expect(body).toMatchObject({
    model: "mistral-medium-3.5",
    stream: true,
    max_tokens: 50,
    temperature: 0.2,
    stop: ["END"],
    prompt_cache_key: "s",
    tool_choice: "any",
    reasoning_effort: "high",
    random_seed: 7,
    messages: [
      { role: "system", content: "S.\n\nV." },
      { role: "user", content: "Read." },
      {
        role: "assistant",
        content: [
          {
            type: "thinking",
            thinking: [{ type: "text", text: "I need two files." }],
            signature: "sig==",
            closed: true,
          },
          { type: "text", text: "Reading." },
        ],
        tool_calls: [{ id: "abcdefgh1", function: { name: "read_file" } }, { id: "abcdefgh2" }],
      },
      { role: "tool", tool_call_id: "abcdefgh1", name: "read_file", content: "A" },
      { role: "tool", tool_call_id: "abcdefgh2", content: "(no output)" },
      { role: "assistant" },
      { role: "user", content: "Stop." },
    ],
  });
});

test("fails without a key for the vendor's own server", async () => {
  const stream = mistralChat.connect({})(model, {
    system: { stable: "" },
    messages: [user("Hi.")],
    tools: [],
  });
  expect((await readToEnd(stream)).error).toMatchObject({ code: "auth", retryable: false, scope: "key" });
});

test("sends the word that a model's quirks give for a level", async () => {
  const own = {
    ...testModel("mistral-chat", "m"),
    thinking: ["off", "high"],
    quirks: { thinkingStyle: "reasoning_effort", efforts: { high: "deepest" } },
  } as const;
  const body = await bodyOf(mistralChat, own, {
    context: { system: { stable: "" }, messages: [user("Hi.")], tools: [] },
    options: { thinking: "high" },
  });
  expect(body).toMatchObject({ reasoning_effort: "deepest" });
});
