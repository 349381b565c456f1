import { describe, expect, it, test } from "vitest";
import { googleGenerative } from "../src/google/index.ts";
import { providerSuite } from "../src/testkit/index.ts";
import { call, result, said, tools, user } from "./support/conversations.ts";
import { brief, expectedBriefs, fixtures, recordedStreams, testModel } from "./support/fixtures.ts";
import { readToEnd, replay } from "./support/replay.ts";
import { bodyOf } from "./support/requests.ts";

const baseUrl = "https://generativelanguage.googleapis.com";
const model = testModel("google-generative", "gemini-3.5-flash");
const streams = fixtures("google");
const expected = expectedBriefs("google");

const refusal = (code: number, status: string, message: string, details?: readonly object[]): string =>
  JSON.stringify({ error: { code, message, status, ...(details ? { details } : {}) } });

providerSuite(
  { describe, it },
  {
    provider: googleGenerative,
    model,
    everyByte: process.env["EVERY_BYTE"] === "1",
    recordings: recordedStreams("google"),
    keepAlive: ": ping\r\n\r\n",
    errorEvent: `data: ${refusal(503, "UNAVAILABLE", "The model is overloaded.")}\r\n\r\n`,
    empty: streams.get("empty")?.toString() ?? "",
    refusals: [
      {
        name: "a wrong key",
        status: 400,
        body: refusal(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
          { reason: "API_KEY_INVALID" },
        ]),
        code: "auth",
      },
      {
        name: "no key",
        status: 403,
        body: refusal(403, "PERMISSION_DENIED", "Unregistered callers."),
        code: "auth",
      },
      {
        name: "a quota that comes back",
        status: 429,
        body: refusal(
          429,
          "RESOURCE_EXHAUSTED",
          "You exceeded your current quota, please check your plan and billing details.",
          [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "36.5s" }],
        ),
        code: "rate_limit",
        retryAfterMs: 36_500,
      },
      {
        name: "overloaded",
        status: 503,
        body: refusal(503, "UNAVAILABLE", "The model is overloaded."),
        code: "overloaded",
      },
      {
        name: "a window that is too small",
        status: 400,
        body: refusal(
          400,
          "INVALID_ARGUMENT",
          "The input token count (20) exceeds the maximum number of tokens allowed (10).",
        ),
        code: "overflow",
      },
      {
        name: "an unknown model",
        status: 404,
        body: refusal(404, "NOT_FOUND", "models/x is not found for API version v1beta."),
        code: "invalid",
      },
      { name: "a proxy's page", status: 502, body: "<html>Bad gateway</html>", code: "overloaded" },
    ],
  },
);

test.each([...streams])("reads %s as expected", async (name, bytes) => {
  const told = await replay({ provider: googleGenerative, model, baseUrl }, { pieces: [bytes] });
  expect(brief(told.message)).toEqual(expected[name]);
});

test("sends a complete request with the model's signatures and ids", async () => {
  const bytes = streams.get("thinking-and-parallel-tools") ?? Buffer.of();
  const { message } = await replay({ provider: googleGenerative, model, baseUrl }, { pieces: [bytes] });
  const calls = message.content.filter((block) => block.type === "toolCall");
  const image = { type: "image", mimeType: "image/png", source: { kind: "base64", data: "AAAA" } } as const;
  const results = calls.map((one, i) =>
    result(one.id, one.name, i === 0 ? [{ type: "text", text: "A" }, image] : [], i === 1),
  );
  const body = await bodyOf(
    googleGenerative,
    { ...model, thinking: ["low", "high"], input: ["text", "image"] },
    {
      context: {
        system: { stable: "S.", volatile: "V." },
        messages: [user("Read."), message, ...results, user("Stop.")],
        tools: tools.slice(1),
      },
      options: {
        thinking: "max",
        temperature: 0.2,
        stopSequences: ["END"],
        maxOutputTokens: 50,
        toolChoice: { name: "now" },
        extra: { generationConfig: { seed: 7 } },
      },
    },
    baseUrl,
  );
  expect(body).toMatchObject({
    systemInstruction: { parts: [{ text: "S.\n\nV." }] },
    generationConfig: {
      maxOutputTokens: 50,
      temperature: 0.2,
      stopSequences: ["END"],
      seed: 7,
      thinkingConfig: { thinkingLevel: "HIGH", includeThoughts: true },
    },
    toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["now"] } },
    contents: [
      { role: "user", parts: [{ text: "Read." }] },
      {
        role: "model",
        parts: [
          { text: "I need two files.", thought: true },
          { text: "Reading." },
          { functionCall: { name: "read_file", args: { path: "a.txt" } }, thoughtSignature: "c2ln" },
          { functionCall: { name: "now", id: "own-id" } },
        ],
      },
      {
        role: "user",
        parts: [
          {
            functionResponse: {
              name: "read_file",
              response: { output: "A" },
              parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }],
            },
          },
          {
            functionResponse: {
              name: "now",
              id: "own-id",
              response: { error: "(failed without a message)" },
            },
          },
          { text: "Stop." },
        ],
      },
    ],
  });
});

test("a call by another model gets the documented placeholder signature if one is required", async () => {
  const other = { api: "openai-chat", provider: "x", id: "y" };
  const messages = [
    user("Time?"),
    said(other, [call("a", "now", {}), call("b", "now", {})]),
    result("a", "now", []),
    result("b", "now", []),
  ];
  const context = { system: { stable: "" }, messages, tools };
  const signed = await bodyOf(googleGenerative, model, { context, options: {} }, baseUrl);
  expect(JSON.stringify(signed).split("skip_thought_signature_validator")).toHaveLength(2);
  const older = { ...model, id: "gemini-2.5-flash" };
  expect(
    JSON.stringify(await bodyOf(googleGenerative, older, { context, options: {} }, baseUrl)),
  ).not.toContain("Signature");
});

test.each([
  ["gemini-2.5-flash", "off", { thinkingBudget: 0 }],
  ["gemini-2.5-flash", "low", { thinkingBudget: 4096, includeThoughts: true }],
  ["gemini-2.5-flash", "max", { thinkingBudget: 24576, includeThoughts: true }],
  ["gemini-3.5-flash", "minimal", { thinkingLevel: "MINIMAL", includeThoughts: true }],
  ["gemini-3.5-flash", "medium", { thinkingLevel: "MEDIUM", includeThoughts: true }],
] as const)("%s gets the level %s", async (id, thinking, thinkingConfig) => {
  const asked = { ...model, id, thinking: ["off", "minimal", "low", "medium", "high", "max"] as const };
  const context = { system: { stable: "" }, messages: [user("Hi.")], tools: [] };
  expect(await bodyOf(googleGenerative, asked, { context, options: { thinking } }, baseUrl)).toMatchObject({
    generationConfig: { thinkingConfig },
  });
});

test("fails without a key for the vendor's own server", async () => {
  const stream = googleGenerative.connect({})(model, {
    system: { stable: "" },
    messages: [user("Hi.")],
    tools: [],
  });
  expect((await readToEnd(stream)).error).toMatchObject({ code: "auth", retryable: false, scope: "key" });
});
