import OpenAI from "openai";
import { afterEach, describe, expect, test } from "vitest";
import { type FakeOpenAI, type OpenAIOptions, startOpenAI } from "../src/openai/index.ts";

const running: FakeOpenAI[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

async function start(options: OpenAIOptions): Promise<{ server: FakeOpenAI; client: OpenAI }> {
  const server = await startOpenAI(options);
  running.push(server);
  return {
    server,
    client: new OpenAI({ apiKey: "key", baseURL: server.baseUrl, maxRetries: 0, logLevel: "off" }),
  };
}

const ANY = { script: () => ({ text: "Hello." }) };
const hi = [{ role: "user", content: "Hi." }] as const;

/** What an endpoint says to a body. */
async function post(
  server: FakeOpenAI,
  path: string,
  body: object | string,
): Promise<{ status: number; message: string; code: string | null }> {
  const response = await fetch(`${server.baseUrl}${path}`, {
    method: "POST",
    headers: { authorization: "Bearer key", "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const answer = (await response.json()) as { error?: { message: string; code: string | null } };
  return { status: response.status, message: answer.error?.message ?? "", code: answer.error?.code ?? null };
}

const turn = {
  thinking: "Hm.",
  text: "Reading 🎉.",
  toolCalls: [
    { name: "read", input: { path: "a" } },
    { name: "now", input: {} },
  ],
};
const tools = [
  { type: "function", function: { name: "read", parameters: { type: "object", properties: {} } } },
] as const;

describe("the vendor's SDK talks to it", () => {
  test("chat, streamed and not, give the same", async () => {
    const { client } = await start({ script: [turn, turn], reasoningField: "reasoning_content" });
    const streamed = await client.chat.completions
      .stream({ model: "m", messages: [...hi], tools: [...tools] })
      .finalChatCompletion();
    const whole = await client.chat.completions.create({ model: "m", messages: [...hi], tools: [...tools] });
    for (const completion of [streamed, whole]) {
      expect(completion.choices[0]).toMatchObject({
        finish_reason: "tool_calls",
        message: {
          content: "Reading 🎉.",
          tool_calls: [
            { function: { name: "read", arguments: '{"path":"a"}' } },
            { function: { name: "now" } },
          ],
        },
      });
    }
  });

  test("responses, streamed and not, give the same", async () => {
    const { client } = await start({ script: [turn, turn] });
    const body = { model: "gpt-5.2", input: "Hi.", include: ["reasoning.encrypted_content" as const] };
    const streamed = await client.responses.stream(body).finalResponse();
    const whole = await client.responses.create(body);
    for (const response of [streamed, whole]) {
      expect(response.output).toMatchObject([
        { type: "reasoning", summary: [{ text: "Hm." }] },
        { type: "message", content: [{ text: "Reading 🎉." }] },
        { type: "function_call", name: "read", arguments: '{"path":"a"}' },
        { type: "function_call", name: "now" },
      ]);
      expect(response.usage?.total_tokens).toBeGreaterThan(0);
    }
  });

  test("models, usage when asked, scripted errors with retry-after", async () => {
    const { client } = await start({
      models: ["a", "b"],
      script: [
        { text: "x", usage: { input: 9, output: 4, cacheRead: 5 } },
        { error: { status: 429, retryAfter: 3 } },
      ],
    });
    expect((await client.models.list()).data.map((model) => model.id)).toEqual(["a", "b"]);
    const asked = { model: "a", messages: [...hi], stream_options: { include_usage: true } };
    const { usage } = await client.chat.completions.stream(asked).finalChatCompletion();
    expect(usage).toMatchObject({
      prompt_tokens: 9,
      completion_tokens: 4,
      prompt_tokens_details: { cached_tokens: 5 },
    });
    const refused = client.chat.completions.create({ model: "a", messages: [...hi] });
    await expect(refused).rejects.toMatchObject({
      status: 429,
      code: "rate_limit_exceeded",
      requestID: expect.any(String),
    });
    const headers = await refused.catch((error: { headers?: Headers }) => error.headers);
    expect(headers instanceof Headers && headers.get("retry-after")).toBe("3");
  });

  test.each(["cut", "garbage"] as const)("a stream that ends in %s", async (kind) => {
    const { client } = await start({ script: [{ text: "x".repeat(100), fault: { kind, afterEvents: 2 } }] });
    await expect(
      client.chat.completions.stream({ model: "m", messages: [...hi] }).finalChatCompletion(),
    ).rejects.toThrow();
  });

  test("a stream goes on once its turn lets it", async () => {
    const read = Promise.withResolvers<void>();
    const pace = (event: number) => (event === 2 ? read.promise : undefined);
    const { client } = await start({ script: [{ text: "abcd", chunks: 2, pace }] });
    const stream = await client.chat.completions.create({ model: "m", messages: [...hi], stream: true });
    const said: string[] = [];
    for await (const chunk of stream) {
      said.push(chunk.choices[0]?.delta.content ?? "");
      if (said.at(-1) === "ab") read.resolve();
    }
    expect(said.join("")).toBe("abcd");
  });

  test("a stream that stalls is open until the client leaves", async () => {
    const { client } = await start({
      script: [{ text: "abcd", chunks: 2, fault: { kind: "stall", afterEvents: 2 } }],
    });
    const stream = await client.chat.completions.create({ model: "m", messages: [...hi], stream: true });
    const said: string[] = [];
    for await (const chunk of stream) {
      said.push(chunk.choices[0]?.delta.content ?? "");
      if (said.length === 2) break;
    }
    expect(said).toEqual(["", "ab"]);
  });
});

const call = {
  role: "assistant",
  tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: "{}" } }],
};

test.each<[string, object | string, number, string]>([
  ["no JSON", "{", 400, "could not parse"],
  ["no model", { messages: hi }, 400, "model parameter"],
  [
    "an unknown parameter",
    { model: "m", messages: hi, nonsense: 1 },
    400,
    "Unrecognized request argument supplied: nonsense",
  ],
  [
    "an unknown property of a message",
    { model: "m", messages: [{ ...hi[0], nonsense: 1 }] },
    400,
    "messages[0].nonsense",
  ],
  ["no messages", { model: "m", messages: [] }, 400, "empty array"],
  [
    "a result without a call",
    { model: "m", messages: [...hi, { role: "tool", tool_call_id: "c1", content: "x" }] },
    400,
    "must be a response",
  ],
  [
    "a call without a result",
    { model: "m", messages: [...hi, call, ...hi] },
    400,
    "did not have response messages: c1",
  ],
  ["a call at the end", { model: "m", messages: [...hi, call] }, 400, "did not have response messages: c1"],
  [
    "an answer without content",
    { model: "m", messages: [...hi, { role: "assistant", content: null }] },
    400,
    "Invalid value for 'content'",
  ],
  [
    "an image in a result",
    {
      model: "m",
      messages: [...hi, call, { role: "tool", tool_call_id: "c1", content: [{ type: "image_url" }] }],
    },
    400,
    "Image URLs are only allowed",
  ],
  [
    "an image that is none",
    {
      model: "m",
      messages: [
        { role: "user", content: [{ type: "image_url", image_url: { url: "data:text/plain;base64,AA" } }] },
      ],
    },
    400,
    "unsupported image",
  ],
  [
    "max_tokens for a reasoning model",
    { model: "gpt-5.2", messages: hi, max_tokens: 5 },
    400,
    "max_completion_tokens",
  ],
  [
    "a temperature for a reasoning model",
    { model: "gpt-5.2", messages: hi, temperature: 0.5 },
    400,
    "temperature",
  ],
  [
    "an effort for another",
    { model: "gpt-4.1", messages: hi, reasoning_effort: "low" },
    400,
    "reasoning_effort",
  ],
  [
    "stream options without a stream",
    { model: "m", messages: hi, stream_options: {} },
    400,
    "only allowed when 'stream'",
  ],
  [
    "a choice without tools",
    { model: "m", messages: hi, tool_choice: "auto" },
    400,
    "only allowed when 'tools'",
  ],
  [
    "a choice of no tool",
    { model: "m", messages: hi, tools, tool_choice: { type: "function", function: { name: "nope" } } },
    400,
    "nope",
  ],
  [
    "a tool with a bad name",
    { model: "m", messages: hi, tools: [{ type: "function", function: { name: "a b" } }] },
    400,
    "pattern",
  ],
  ["five stop words", { model: "m", messages: hi, stop: ["1", "2", "3", "4", "5"] }, 400, "array too long"],
  ["an unknown model", { model: "other", messages: hi }, 404, "does not exist"],
  [
    "too much",
    { model: "m", messages: [{ role: "user", content: "x".repeat(9000) }] },
    400,
    "maximum context length is 2000",
  ],
])("chat refuses %s", async (_, body, status, words) => {
  const { server } = await start({ ...ANY, models: ["m", "gpt-5.2", "gpt-4.1"], contextWindow: 2000 });
  const answer = await post(server, "/chat/completions", body);
  expect(answer.status).toBe(status);
  expect(answer.message).toContain(words);
});

const fc = { type: "function_call", call_id: "c1", name: "read", arguments: "{}" };
const out = { type: "function_call_output", call_id: "c1", output: "x" };

test.each<[string, object, string]>([
  ["an unknown parameter", { nonsense: 1 }, "Unknown parameter: 'nonsense'"],
  [
    "an unknown property of an item",
    { input: [{ role: "user", content: "Hi.", nonsense: 1 }] },
    "Unknown parameter: 'input[0].nonsense'",
  ],
  ["an output without a call", { input: [out] }, "No tool call found for function call output"],
  ["a call without an output", { input: [fc] }, "No tool output found for function call c1"],
  ["a long call id", { input: [{ ...fc, call_id: "c".repeat(65) }] }, "string too long"],
  ["an id of another kind", { input: [{ ...fc, id: "rs_1" }, out] }, "begins with 'fc'"],
  [
    "reasoning that leads to nothing",
    { input: [{ type: "reasoning", id: "rs_1", summary: [] }] },
    "without its required following item",
  ],
  [
    "reasoning that is not stored",
    { store: false, input: [{ type: "reasoning", id: "rs_1", summary: [] }, fc, out] },
    "Items are not persisted",
  ],
  [
    "forged reasoning",
    { input: [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" }, fc, out] },
    "could not be verified",
  ],
  [
    "an answer's part in a question",
    { input: [{ role: "user", content: [{ type: "output_text", text: "x" }] }] },
    "Invalid value: 'output_text'",
  ],
  ["a tiny limit", { max_output_tokens: 15 }, "Expected a value >= 16"],
  ["a temperature for a reasoning model", { temperature: 1 }, "'temperature' is not supported"],
  ["an effort for another model", { model: "gpt-4.1", reasoning: { effort: "low" } }, "reasoning.effort"],
  [
    "encrypted reasoning of another model",
    { model: "gpt-4.1", include: ["reasoning.encrypted_content"] },
    "Encrypted content is not supported",
  ],
  [
    "a schema that is not strict",
    { tools: [{ type: "function", name: "f", parameters: { type: "object", properties: { a: {} } } }] },
    "'required' is required",
  ],
  ["too much", { input: "x".repeat(9000) }, "exceeds the context window"],
])("responses refuse %s", async (_, fields, words) => {
  const { server } = await start({ ...ANY, contextWindow: 2000 });
  const answer = await post(server, "/responses", { model: "gpt-5.2", input: "Hi.", ...fields });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.message).toContain(words);
});

test("an item whose reasoning was left out is refused", async () => {
  const { server, client } = await start({ script: [turn] });
  const { output } = await client.responses.create({
    model: "gpt-5.2",
    input: "Hi.",
    include: ["reasoning.encrypted_content"],
  });
  const message = output.find((item) => item.type === "message");
  expect(
    (await post(server, "/responses", { model: "gpt-5.2", input: [message, { role: "user", content: "x" }] }))
      .message,
  ).toContain("without its required 'reasoning' item");
});

test("keys, and a dialect's own refusals", async () => {
  const { server } = await start({
    ...ANY,
    apiKey: "another",
    dialect: { refuses: ["stream_options", "role:developer", "tools.strict"] },
  });
  expect(await post(server, "/chat/completions", { model: "m", messages: hi })).toMatchObject({
    status: 401,
    code: "invalid_api_key",
  });
  const open = (
    await start({ ...ANY, dialect: { refuses: ["stream_options", "role:developer"], accepts: ["top_k"] } })
  ).server;
  const ask = (body: object): Promise<{ status: number }> =>
    post(open, "/chat/completions", { model: "m", messages: hi, ...body });
  expect((await ask({ stream: true, stream_options: {} })).status).toBe(400);
  expect((await ask({ messages: [{ role: "developer", content: "x" }] })).status).toBe(400);
  expect((await ask({ top_k: 5 })).status).toBe(200);
});

test("a script that is used up says so", async () => {
  const { client } = await start({ script: [] });
  await expect(client.chat.completions.create({ model: "m", messages: [...hi] })).rejects.toMatchObject({
    status: 500,
  });
});
