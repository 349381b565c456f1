import type { Message, Model, ModelErrorCode } from "@signalbox/agent-core";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { googleGenerative } from "../src/google/index.ts";
import { classify, classifyException, defineProvider, loadSdk } from "../src/index.ts";
import { mistralChat } from "../src/mistral/index.ts";
import { openaiChat } from "../src/openai-chat/index.ts";
import { openaiResponses } from "../src/openai-responses/index.ts";
import type { Provider } from "../src/provider/provider.ts";
import { readTurn, type WireAnswer, wire } from "../src/testkit/index.ts";
import { testModel } from "./support/fixtures.ts";
import { bodyOf } from "./support/requests.ts";

const encoder = new TextEncoder();
const sse = (...events: readonly unknown[]): Uint8Array =>
  encoder.encode(
    events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join(""),
  );

const ask = (provider: Provider, answer: WireAnswer, id = "m") => {
  const { fetch } = wire(answer);
  const stream = provider.connect({ apiKey: "k", fetch, now: () => 0 });
  const messages = [{ role: "user", content: "Go.", timestamp: 0 }] as const;
  return readTurn(stream(testModel(provider.api, id), { system: { stable: "" }, messages, tools: [] }));
};

describe("the responses endpoint", () => {
  it("reads a text once if its position differs between the stream and the finished item", async () => {
    const item = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
    const { message } = await ask(openaiResponses, {
      pieces: [
        sse(
          { type: "response.created", response: { id: "resp_1" } },
          { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
          { type: "response.output_text.delta", output_index: 0, content_index: 1, delta: "Hello " },
          { type: "response.output_text.delta", output_index: 0, content_index: 1, delta: "there." },
          {
            type: "response.output_item.done",
            output_index: 0,
            item: { ...item, content: [{ type: "output_text", text: "Hello there.", annotations: [] }] },
          },
          { type: "response.completed", response: { status: "completed", output: [] } },
        ),
      ],
    });
    expect(message.content).toMatchObject([{ type: "text", text: "Hello there." }]);
  });
});

describe("an address that is not a model's", () => {
  const everyone = [anthropicMessages, openaiResponses, openaiChat, googleGenerative, mistralChat];

  it.each(everyone)("is reported with the title of the page that $api received", async (provider) => {
    const page = "<!doctype html><html><head><title>Sign in</title></head><body>Welcome</body></html>";
    const { error } = await ask(provider, {
      headers: { "content-type": "text/html" },
      pieces: [encoder.encode(page.slice(0, 40)), encoder.encode(page.slice(40))],
    });
    expect(error).toMatchObject({
      code: "protocol",
      message: expect.stringMatching(/web page \(Sign in\).*baseUrl/),
    });
  });

  it.each(everyone)("is reported with the address that $api was redirected to", async (provider) => {
    const headers = { location: "https://elsewhere.test/login" };
    const { error } = await ask(provider, { status: 302, headers, pieces: [] });
    expect(error?.message).toContain("302");
    expect(error?.message).toContain("https://elsewhere.test/login");
  });
});

it.each([anthropicMessages, openaiResponses, openaiChat, googleGenerative, mistralChat])(
  "a refusal with status 200 is one for $api too",
  async (provider) => {
    const body = JSON.stringify({
      error: { message: "Too many requests", type: "rate_limit_error", code: 429 },
    });
    const { error } = await ask(provider, {
      headers: { "content-type": "application/json" },
      pieces: [encoder.encode(body)],
    });
    expect(error).toMatchObject({ code: "rate_limit", message: "Too many requests" });
  },
);

describe("a server-side tool whose input was cut", () => {
  it("is dropped, and the answer is complete", async () => {
    const { message, error } = await ask(anthropicMessages, {
      pieces: [
        sse(
          { type: "message_start", message: { id: "msg_1", usage: { input_tokens: 5, output_tokens: 1 } } },
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "Let me look." } },
          { type: "content_block_stop", index: 0 },
          {
            type: "content_block_start",
            index: 1,
            content_block: { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
          },
          {
            type: "content_block_delta",
            index: 1,
            delta: { type: "input_json_delta", partial_json: '{"que' },
          },
          { type: "content_block_stop", index: 1 },
          { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 40 } },
          { type: "message_stop" },
        ),
      ],
    });
    expect(error).toBeUndefined();
    expect(message).toMatchObject({
      stopReason: "max_tokens",
      content: [{ type: "text", text: "Let me look." }],
      usage: { output: { total: 40 } },
    });
  });
});

describe("half a surrogate pair", () => {
  const history = (model: Model): Message[] => {
    const said = {
      api: model.api,
      provider: model.provider,
      model: model.id,
      stopReason: "tool_use",
    } as const;
    return [
      { role: "user", content: "Go \ud83d", timestamp: 0 },
      {
        role: "assistant",
        content: [
          { type: "text", text: "so \ude00" },
          {
            type: "toolCall",
            id: "call12345",
            name: "t",
            args: { a: "\ud83d" },
            argsText: '{"a":"\\ud83d"}',
          },
        ],
        ...said,
        timestamp: 0,
      },
      {
        role: "toolResult",
        toolCallId: "call12345",
        toolName: "t",
        content: [{ type: "text", text: "cut \ud83d" }],
        isError: false,
        timestamp: 0,
      },
    ];
  };

  it.each([anthropicMessages, openaiResponses, openaiChat, mistralChat, googleGenerative])(
    "in a history that was kept is made whole before it is sent: %#",
    async (provider) => {
      const model = testModel(provider.api, "m");
      const context = { system: { stable: "" }, messages: history(model), tools: [] };
      const body = JSON.stringify(await bodyOf(provider, model, { context, options: {} }));
      // JSON escapes a lone surrogate. Within arguments, which are a string, the escape is escaped again.
      expect(body).not.toMatch(/\\u[dD][89a-fA-F]/);
      expect(body).toContain("\ufffd");
    },
  );
});

describe("a status and a word beside it", () => {
  const cases: readonly [number | undefined, string, ModelErrorCode][] = [
    [401, "api_error", "auth"],
    [403, "server_error", "auth"],
    [500, "authentication_error", "overloaded"],
    [503, "invalid_request_error", "overloaded"],
    [429, "invalid_request_error", "rate_limit"],
    [429, "insufficient_quota", "billing"],
    [400, "context_length_exceeded", "overflow"],
    [403, "model_not_found", "invalid"],
    [undefined, "api_error", "overloaded"],
  ];
  it.each(cases)("%s %s is %s", (status, word, code) => {
    expect(classify({ message: "x", status, words: [word] }).code).toBe(code);
  });
});

describe("an overflow", () => {
  it.each([
    { message: "x", status: 400, words: ["too_many_prompt_tokens"] },
    { message: "The total length of all messages is too long", status: 400 },
    { message: "Number of input tokens exceeds maximum length (9000 > 8192)", status: 422 },
  ])("is recognized by a word or a sentence: %j", (facts) => {
    expect(classify(facts).code).toBe("overflow");
  });
});

describe("an exception", () => {
  it.each([
    "ERR_INVALID_URL",
    "ERR_MODULE_NOT_FOUND",
    "ERR_INVALID_ARG_TYPE",
    "UND_ERR_INVALID_ARG",
    "ENOENT",
  ])("with %s is not retryable", (code) => {
    const failure = classifyException(Object.assign(new Error("x"), { code }));
    expect(failure).toMatchObject({ code: "invalid", retryable: false });
  });

  it.each([
    "ECONNREFUSED",
    "EAI_AGAIN",
    "ENOTFOUND",
    "ENETUNREACH",
    "EHOSTUNREACH",
    "UND_ERR_SOCKET",
    "ERR_HTTP2_ERROR",
    "SELF_SIGNED_CERT_IN_CHAIN",
  ])("with %s is a network failure", (code) => {
    expect(classifyException(Object.assign(new Error("x"), { code })).code).toBe("network");
  });
});

describe("a chat server", () => {
  const call = (args: string) => ({
    choices: [
      { index: 0, delta: { tool_calls: [{ index: 0, id: "c", function: { name: "t", arguments: args } }] } },
    ],
  });
  const usage = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } };

  it("runs the calls of a stream without a finish reason if calls and usage are complete", async () => {
    const { message, error } = await ask(openaiChat, { pieces: [sse(call('{"a":1}'), usage, "[DONE]")] });
    expect(error).toBeUndefined();
    expect(message).toMatchObject({ stopReason: "tool_use", content: [{ args: { a: 1 } }] });
  });

  it.each([
    ["the arguments are", sse(call('{"a":'), usage, "[DONE]")],
    ["the usage is", sse(call('{"a":1}'), "[DONE]")],
    ["the answer is", sse({ choices: [{ index: 0, delta: { content: " " } }] }, usage, "[DONE]")],
  ])("fails a stream without a finish reason if %s missing", async (_what, body) => {
    expect((await ask(openaiChat, { pieces: [body] })).error?.code).toBe("protocol");
  });

  it("reads the message of a JSON body, whatever its delta", async () => {
    const choice = { index: 0, delta: {}, message: { content: "All of it." }, finish_reason: "stop" };
    const { message } = await ask(openaiChat, {
      headers: { "content-type": "application/json" },
      pieces: [encoder.encode(JSON.stringify({ choices: [choice] }))],
    });
    expect(message.content).toEqual([{ type: "text", text: "All of it." }]);
  });
});

describe("a Gemini stream with a finish reason in each chunk", () => {
  const chunk = (part: object) => ({
    candidates: [{ index: 0, content: { parts: [part] }, finishReason: "STOP" }],
  });
  const call = { functionCall: { name: "rm", args: { path: "a" } } };

  it.each([
    ["after an event", sse(chunk({ text: "Let me see." }), chunk(call))],
    ["in the middle of one", sse(chunk(call)).subarray(0, -9)],
  ])("is incomplete if the connection breaks %s, and runs no tools", async (_where, body) => {
    const { message, error } = await ask(googleGenerative, { pieces: [body], ending: "break" });
    expect(error?.code).toBe("network");
    expect(message.stopReason).toBe("error");
  });

  it("is complete if the body ends normally", async () => {
    const body = sse(chunk({ text: "Let me see." }), chunk(call));
    expect((await ask(googleGenerative, { pieces: [body] })).message.stopReason).toBe("tool_use");
  });
});

it("a request to Gemini has no empty texts", async () => {
  const messages: Message[] = [
    {
      role: "user",
      content: [
        { type: "text", text: "" },
        { type: "text", text: "Hi." },
      ],
      timestamp: 0,
    },
  ];
  const context = { system: { stable: "" }, messages, tools: [] };
  const body = await bodyOf(googleGenerative, testModel("google-generative", "m"), { context, options: {} });
  expect(body).toMatchObject({ contents: [{ parts: [{ text: "Hi." }] }] });
});

describe("an SDK", () => {
  const missing = Object.assign(new Error("Cannot find package 'some-sdk' imported from here"), {
    code: "ERR_MODULE_NOT_FOUND",
  });

  it("that is not installed is reported with the install command, and found once it is installed", async () => {
    let installed = false;
    const provider = defineProvider({
      api: "a",
      vendor: "A",
      requestIdHeaders: [],
      async send({ fetch }) {
        await loadSdk("some-sdk", async () => {
          if (!installed) throw missing;
        });
        return fetch("https://sdk.test", { method: "POST", body: "{}" });
      },
      createReader: (turn) => ({ data: () => turn.finish("end_turn") }),
    });
    const stream = provider.connect({ apiKey: "k", fetch: wire({ pieces: [sse("hi")] }).fetch });
    const context = { system: { stable: "" }, messages: [], tools: [] };
    const first = await readTurn(stream(testModel("a", "m"), context));
    expect(first.error).toMatchObject({
      code: "invalid",
      retryable: false,
      message: expect.stringContaining("npm install some-sdk"),
    });
    installed = true;
    expect((await readTurn(stream(testModel("a", "m"), context))).error).toBeUndefined();
  });

  it("works if a server has replaced the global `Request`", async () => {
    vi.stubGlobal("Request", class extends Request {});
    onTestFinished(() => void vi.unstubAllGlobals());
    const answer = {
      pieces: [sse({ choices: [{ index: 0, delta: { content: "Hi." }, finish_reason: "stop" }] }, "[DONE]")],
    };
    expect((await ask(mistralChat, answer)).error).toBeUndefined();
  });
});
