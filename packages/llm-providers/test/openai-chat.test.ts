import { readFileSync } from "node:fs";
import type { Message, Model, StreamOptions } from "@signalbox/agent-core";
import { describe, expect, it, test } from "vitest";
import { openaiChat } from "../src/openai-chat/index.ts";
import { chatDialects, chatQuirks } from "../src/openai-chat/quirks.ts";
import { providerSuite, readTurn } from "../src/testkit/index.ts";
import { result, said, tools, user } from "./support/conversations.ts";
import { brief, expectedBriefs, fixtures, recordedStreams, testModel } from "./support/fixtures.ts";
import { answering, readToEnd, replay } from "./support/replay.ts";
import { bodyOf } from "./support/requests.ts";

const baseUrl = "https://models.test/v1";
const model = testModel("openai-chat", "m");
const streams = fixtures("openai-chat");
const expected = expectedBriefs("openai-chat");

const refusal = (message: string, code: string | number | null, type = "invalid_request_error"): string =>
  JSON.stringify({ error: { message, type, param: null, code } });

providerSuite(
  { describe, it },
  {
    provider: openaiChat,
    model,
    everyByte: process.env["EVERY_BYTE"] === "1",
    recordings: recordedStreams("openai-chat", ["error-of-minimax"]),
    keepAlive: ": OPENROUTER PROCESSING\n\n",
    errorEvent: 'data: {"error":{"message":"Overloaded","type":"server_error","code":503}}\n\n',
    empty: streams.get("empty")?.toString() ?? "",
    refusals: [
      {
        name: "a wrong key",
        status: 401,
        body: refusal("Incorrect API key provided.", "invalid_api_key"),
        code: "auth",
      },
      {
        name: "no balance at DeepSeek",
        status: 402,
        body: refusal("Insufficient Balance", "invalid_request_error"),
        code: "billing",
      },
      {
        name: "too many requests",
        status: 429,
        headers: { "retry-after": "3" },
        body: refusal("Slow down.", 429),
        code: "rate_limit",
        retryAfterMs: 3000,
      },
      {
        name: "overflow at OpenAI",
        status: 400,
        body: refusal("This model's maximum context length is 10 tokens.", "context_length_exceeded"),
        code: "overflow",
      },
      {
        name: "overflow at vLLM",
        status: 400,
        body: '{"object":"error","message":"This model\'s maximum context length is 10 tokens. However, you requested 12 tokens.","type":"BadRequestError","param":null,"code":400}',
        code: "overflow",
      },
      {
        name: "overflow at llama.cpp",
        status: 400,
        body: '{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}',
        code: "overflow",
      },
      {
        name: "an unknown model at Ollama",
        status: 404,
        body: refusal("model 'x' not found", null, "not_found_error"),
        code: "invalid",
      },
      { name: "a proxy's page", status: 502, body: "<html>Bad gateway</html>", code: "overloaded" },
    ],
  },
);

test.each([...streams])("reads %s as expected", async (name, bytes) => {
  const told = await replay({ provider: openaiChat, model, baseUrl }, { pieces: [bytes] });
  expect(brief(told.message)).toEqual(expected[name]);
});

test("reads a JSON body from a server that does not stream", async () => {
  const message = {
    role: "assistant",
    content: "Hi.",
    tool_calls: [{ id: "call_1", type: "function", function: { name: "now", arguments: "{}" } }],
  };
  const body = {
    id: "c1",
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: "tool_calls" }],
    usage: { prompt_tokens: 3, completion_tokens: 2 },
  };
  const told = await replay(
    { provider: openaiChat, model, baseUrl },
    { headers: { "content-type": "application/json" }, pieces: [Buffer.from(JSON.stringify(body))] },
  );
  expect(brief(told.message)).toEqual([
    "tool_use (tool_calls)",
    "text: Hi.",
    "call: call_1 now {}",
    "reported: in 3 = 3 + undefined + undefined, out 2 (undefined)",
  ]);
});

test("an image is not estimated as text if a server reports no usage", async () => {
  const bytes = Buffer.from(
    'data: {"choices":[{"index":0,"delta":{"content":"A cat."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  );
  const stream = openaiChat.connect({ apiKey: "test", baseUrl, fetch: answering(bytes) });
  const data = Buffer.alloc(300_000).toString("base64");
  const picture = { type: "image", mimeType: "image/png", source: { kind: "base64", data } } as const;
  const messages = [user([{ type: "text", text: "What is this?" }, picture])];
  const { message } = await readTurn(stream(model, { system: { stable: "" }, messages, tools: [] }));
  expect(message.usage?.source).toBe("estimated");
  expect(message.usage?.input.total).toBeGreaterThan(1_000);
  expect(message.usage?.input.total).toBeLessThan(5_000);
});

const thinker: Model = { ...model, thinking: ["off", "minimal", "low", "medium", "high", "max"] };

async function ask(
  quirks: Model["quirks"],
  messages: readonly Message[],
  options: StreamOptions,
  url = baseUrl,
): Promise<unknown> {
  const asked = quirks === undefined ? thinker : { ...thinker, quirks };
  return bodyOf(
    openaiChat,
    asked,
    { context: { system: { stable: "S.", volatile: "V." }, messages, tools: tools.slice(1) }, options },
    url,
  );
}

const now = {
  type: "function",
  function: { name: "now", description: "The time.", parameters: { type: "object", properties: {} } },
};
const hello = [user("Hi.")];
const asked = (role: string, more: object): object => ({
  model: "m",
  stream: true,
  messages: [
    { role, content: "S.\n\nV." },
    { role: "user", content: "Hi." },
  ],
  tools: [now],
  ...more,
});
const usage = { stream_options: { include_usage: true } };
const LONG = {
  thinking: "max",
  temperature: 1,
  stopSequences: ["END"],
  maxOutputTokens: 50,
  toolChoice: "required",
  sessionId: "s",
} as const;
const plain = { max_tokens: 50, temperature: 1, stop: ["END"], tool_choice: "required", ...usage };

test.each([
  [
    "https://api.openai.com/v1",
    asked("developer", {
      max_completion_tokens: 50,
      reasoning_effort: "xhigh",
      tool_choice: "required",
      prompt_cache_key: "s",
      ...usage,
    }),
  ],
  ["https://api.deepseek.com", asked("system", { ...plain, thinking: { type: "enabled" } })],
  ["https://api.moonshot.ai/v1", asked("system", { ...plain, thinking: { type: "enabled" } })],
  ["https://api.minimax.io/v1", asked("system", { ...plain, reasoning_split: true })],
  ["https://dashscope.aliyuncs.com/compatible-mode/v1", asked("system", { ...plain, enable_thinking: true })],
  ["https://openrouter.ai/api/v1", asked("system", { ...plain, reasoning: { effort: "xhigh" } })],
  [
    "https://api.groq.com/openai/v1",
    asked("system", {
      max_completion_tokens: 50,
      temperature: 1,
      stop: ["END"],
      tool_choice: "required",
      reasoning_effort: "high",
      ...usage,
    }),
  ],
  [
    "http://127.0.0.1:11434/v1",
    asked("system", { max_tokens: 50, temperature: 1, stop: ["END"], reasoning_effort: "high", ...usage }),
  ],
  [
    "http://127.0.0.1:8000/v1",
    asked("system", { ...plain, chat_template_kwargs: { enable_thinking: true } }),
  ],
  ["http://127.0.0.1:1234/v1", asked("system", plain)],
  ["https://models.test/v1", asked("system", plain)],
])("sends the body that %s expects", async (url, body) => {
  expect(await ask(undefined, hello, LONG, url)).toEqual(body);
});

test("every quirk can be set on its own", async () => {
  const quirks = {
    maxTokensField: "max_completion_tokens",
    systemRole: "developer",
    streamOptions: false,
    thinkingStyle: "reasoning_effort",
    efforts: { max: "most" },
    parallelToolCalls: false,
    strictTools: true,
    temperature: false,
    stop: false,
    promptCacheKey: true,
    body: { top_k: 5 },
  };
  expect(await ask(quirks, hello, LONG)).toEqual(
    asked("developer", {
      max_completion_tokens: 50,
      reasoning_effort: "most",
      parallel_tool_calls: false,
      tool_choice: "required",
      prompt_cache_key: "s",
      top_k: 5,
      tools: [{ ...now, function: { ...now.function, strict: true } }],
    }),
  );
});

test("sets cache breakpoints for a model that accepts them", async () => {
  const mark = { cache_control: { type: "ephemeral" } };
  expect(
    await ask(
      { cacheControl: true },
      [user("One."), said(thinker, [{ type: "text", text: "Two." }]), user("Three.")],
      {},
    ),
  ).toMatchObject({
    messages: [
      {
        role: "system",
        content: [
          { type: "text", text: "S.", ...mark },
          { type: "text", text: "V." },
        ],
      },
      { role: "user", content: "One." },
      { role: "assistant", content: "Two." },
      { role: "user", content: [{ type: "text", text: "Three.", ...mark }] },
    ],
  });
});

test("sets cache breakpoints at OpenRouter for Claude only, also on tool results", async () => {
  const mark = { cache_control: { type: "ephemeral", ttl: "1h" } };
  const messages = [
    user("Time?"),
    said(thinker, [{ type: "toolCall", id: "call_1", name: "now", args: {}, argsText: "{}" }]),
    result("call_1", "now", [{ type: "text", text: "Noon." }]),
  ];
  const context = { system: { stable: "S." }, messages, tools };
  const bodyFor = (id: string): Promise<unknown> =>
    bodyOf(
      openaiChat,
      { ...thinker, id, quirks: {} },
      { context, options: { cache: "long" } },
      "https://openrouter.ai/api/v1",
    );
  expect(await bodyFor("anthropic/claude-sonnet-4.6")).toMatchObject({
    messages: [
      { role: "system", content: [{ type: "text", text: "S.", ...mark }] },
      { role: "user", content: "Time?" },
      { role: "assistant" },
      { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "Noon.", ...mark }] },
    ],
  });
  expect(JSON.stringify(await bodyFor("openai/gpt-5.2"))).not.toContain("cache_control");
});

test("a server without named tool choices is offered that tool alone", async () => {
  const choice = { toolChoice: { name: "now" } };
  expect(await ask({ dialect: "lmstudio" }, hello, choice)).toMatchObject({
    tool_choice: "required",
    tools: [{ function: { name: "now" } }],
  });
  expect(await ask({ dialect: "vllm" }, hello, choice)).toMatchObject({
    tool_choice: { type: "function", function: { name: "now" } },
  });
});

test.each(["lmstudio", "minimax", "compatible"])(
  "a level of thinking that %s is not told of is warned of",
  async (dialect) => {
    const warned = async (how: StreamOptions): Promise<string[]> => {
      const bytes = streams.get("text") ?? Buffer.of();
      const asked = { ...thinker, quirks: { dialect } };
      const { events } = await replay(
        { provider: openaiChat, model: asked, baseUrl: "http://localhost/v1", options: how },
        { pieces: [bytes] },
      );
      const [start] = events;
      return start?.type === "start" ? start.warnings.map((one) => one.code) : [];
    };
    expect(await warned({ thinking: "high" })).toContain("thinking_dropped");
    expect(await warned({})).not.toContain("thinking_dropped");
  },
);

test("every dialect and quirk is documented", () => {
  const readme = readFileSync(new URL("../QUIRKS.md", import.meta.url), "utf8");
  for (const dialect of Object.keys(chatDialects)) expect(readme).toContain(`| \`${dialect}\` |`);
  for (const quirk of Object.keys(chatQuirks(thinker, baseUrl))) expect(readme).toContain(`\`${quirk}\``);
});

const image = { type: "image", mimeType: "image/png", source: { kind: "base64", data: "AAAA" } } as const;
const part = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };

test.each([
  [
    {},
    [
      { role: "tool", content: "Here:" },
      { role: "user", content: [{ type: "text", text: "Attached to the result of now:" }, part] },
      { role: "user", content: "Well?" },
    ],
  ],
  [
    { toolResultImages: "tool", toolResultName: true },
    [
      { role: "tool", name: "now", content: [{ type: "text", text: "Here:" }, part] },
      { role: "user", content: "Well?" },
    ],
  ],
  [
    { userAfterTool: false, toolResultImages: "tool" },
    [{ role: "tool" }, { role: "assistant" }, { role: "user", content: "Well?" }],
  ],
])("sends images of tools and messages after results, with %j", async (quirks, following) => {
  const calls = said(thinker, [{ type: "toolCall", id: "call_1", name: "now", args: {}, argsText: "{}" }]);
  const messages = [
    user("Show."),
    calls,
    result("call_1", "now", [{ type: "text", text: "Here:" }, image]),
    user("Well?"),
  ];
  const seeing = { ...thinker, input: ["text", "image"] as const, quirks };
  const body = await bodyOf(
    openaiChat,
    seeing,
    { context: { system: { stable: "" }, messages, tools }, options: {} },
    baseUrl,
  );
  expect(body).toMatchObject({
    messages: [
      { role: "user" },
      { role: "assistant", content: "", tool_calls: [{ id: "call_1" }] },
      ...following,
    ],
  });
});

test.each([
  ["reasoning_content", "turn", [undefined, "I need two files."]],
  ["reasoning_content", "all", ["I need two files.", "I need two files."]],
  ["reasoning", "turn", [undefined, "I need two files."]],
  ["none", "all", [undefined, undefined]],
])("sends reasoning back as %s, for %s", async (reasoningField, reasoningScope, sent) => {
  const bytes = streams.get("thinking-and-parallel-tools") ?? Buffer.of();
  const { message } = await replay({ provider: openaiChat, model: thinker, baseUrl }, { pieces: [bytes] });
  const results = [result("call_1", "read_file", []), result("call_2", "now", [])];
  const messages = [user("Read."), message, ...results, user("Again."), message, ...results];
  const body = await ask({ reasoningField, reasoningScope }, messages, {});
  const turns = (body as { messages: Record<string, unknown>[] }).messages.filter(
    (one) => one.role === "assistant",
  );
  expect(turns.map((turn) => turn[reasoningField])).toEqual(sent);
});

test("sends complete reasoning details back", async () => {
  const bytes = streams.get("reasoning-details") ?? Buffer.of();
  const { message } = await replay({ provider: openaiChat, model: thinker, baseUrl }, { pieces: [bytes] });
  const messages = [user("Go."), { ...message, content: message.content.slice(0, 2) }, user("On.")];
  const body = await ask({ dialect: "openrouter" }, messages, {});
  expect(body).toMatchObject({
    messages: [
      {},
      {},
      {
        role: "assistant",
        content: "See.",
        reasoning_details: [
          { type: "reasoning.text", text: "Two steps.", signature: "sig==" },
          { type: "reasoning.encrypted", data: "sealed" },
        ],
      },
      {},
    ],
  });
});

test("fails without a key for the vendor's own server", async () => {
  const stream = openaiChat.connect({})(model, {
    system: { stable: "" },
    messages: [user("Hi.")],
    tools: [],
  });
  expect((await readToEnd(stream)).error).toMatchObject({ code: "auth", retryable: false, scope: "key" });
});
