import { describe, expect, it, test } from "vitest";
import { openaiResponses } from "../src/openai-responses/index.ts";
import { providerSuite, readTurn, wire } from "../src/testkit/index.ts";
import { call, result, said, tools, user } from "./support/conversations.ts";
import { brief, expectedBriefs, fixtures, recordedStreams, testModel } from "./support/fixtures.ts";
import { readToEnd, replay } from "./support/replay.ts";
import { bodyOf } from "./support/requests.ts";

const baseUrl = "https://api.openai.com/v1";
const model = testModel("openai-responses", "gpt-5.2");
const streams = fixtures("openai-responses");
const expected = expectedBriefs("openai-responses");

const refusal = (message: string, code: string | null, type = "invalid_request_error"): string =>
  JSON.stringify({ error: { message, type, param: null, code } });

providerSuite(
  { describe, it },
  {
    provider: openaiResponses,
    model,
    everyByte: process.env["EVERY_BYTE"] === "1",
    recordings: recordedStreams("openai-responses"),
    keepAlive: ": keep-alive\n\n",
    errorEvent:
      'event: error\ndata: {"type":"error","code":"server_error","message":"Overloaded","param":null}\n\n',
    empty: streams.get("empty")?.toString() ?? "",
    refusals: [
      {
        name: "a wrong key",
        status: 401,
        body: refusal("Incorrect API key provided: sk-x.", "invalid_api_key"),
        code: "auth",
      },
      {
        name: "no quota",
        status: 429,
        body: refusal("You exceeded your current quota.", "insufficient_quota", "insufficient_quota"),
        code: "billing",
      },
      {
        name: "too many requests",
        status: 429,
        headers: { "retry-after-ms": "1500" },
        body: refusal("Rate limit reached for gpt-5.2.", "rate_limit_exceeded", "tokens"),
        code: "rate_limit",
        retryAfterMs: 1500,
      },
      {
        name: "overloaded",
        status: 503,
        body: refusal("The engine is overloaded.", null, "server_error"),
        code: "overloaded",
      },
      {
        name: "a window that is too small",
        status: 400,
        body: refusal("Your input exceeds the context window of this model.", "context_length_exceeded"),
        code: "overflow",
      },
      {
        name: "an unknown model",
        status: 404,
        body: refusal("The model `x` does not exist.", "model_not_found"),
        code: "invalid",
      },
      { name: "a proxy's page", status: 502, body: "<html>Bad gateway</html>", code: "overloaded" },
    ],
  },
);

test.each([...streams])("reads %s as expected", async (name, bytes) => {
  const told = await replay({ provider: openaiResponses, model, baseUrl }, { pieces: [bytes] });
  expect(brief(told.message)).toEqual(expected[name]);
});

const context = { system: { stable: "Stable.", volatile: "Volatile." }, tools };

test("sends a complete request", async () => {
  const thinker = { ...model, thinking: ["off", "low", "high", "max"] as const };
  const options = {
    thinking: "medium",
    cache: "long",
    sessionId: "session",
    maxOutputTokens: 4000,
    extra: { user: "u" },
  } as const;
  expect(
    await bodyOf(
      openaiResponses,
      thinker,
      { context: { ...context, messages: [user("Hi.")] }, options },
      baseUrl,
    ),
  ).toEqual({
    model: "gpt-5.2",
    stream: true,
    store: false,
    instructions: "Stable.\n\nVolatile.",
    input: [{ role: "user", content: "Hi." }],
    max_output_tokens: 4000,
    include: ["reasoning.encrypted_content"],
    reasoning: { effort: "low", summary: "auto" },
    prompt_cache_key: "session",
    prompt_cache_retention: "24h",
    tools: tools.map(({ name, description, inputSchema }) => ({
      type: "function",
      name,
      description,
      parameters: inputSchema,
      strict: false,
    })),
    user: "u",
  });
});

test("sends an answer back unchanged: items, ids and encrypted reasoning", async () => {
  const bytes = streams.get("thinking-and-parallel-tools") ?? Buffer.of();
  const { message } = await replay({ provider: openaiResponses, model, baseUrl }, { pieces: [bytes] });
  const messages = [
    user("Read."),
    message,
    result("call_1", "read_file", [{ type: "text", text: "A" }]),
    result("call_2", "now", [], true),
  ];
  const body = await bodyOf(
    openaiResponses,
    model,
    { context: { ...context, messages }, options: {} },
    baseUrl,
  );
  expect(body).toMatchObject({
    input: [
      { role: "user", content: "Read." },
      {
        type: "reasoning",
        id: "rs_1",
        encrypted_content: "gAAAAAsealed",
        summary: [
          { type: "summary_text", text: "I need two files." },
          { type: "summary_text", text: "Both at once." },
        ],
      },
      {
        type: "message",
        id: "msg_1",
        phase: "commentary",
        content: [{ type: "output_text", text: "Reading." }],
      },
      { type: "function_call", id: "fc_1", call_id: "call_1", arguments: '{"path":"a b.txt"}' },
      { type: "function_call", id: "fc_2", call_id: "call_2" },
      { type: "function_call_output", call_id: "call_1", output: "A" },
      { type: "function_call_output", call_id: "call_2", output: "(failed without a message)" },
    ],
  });
});

test("sends an item without its id if its reasoning is missing, and no reasoning without its item", async () => {
  const bytes = streams.get("thinking-and-parallel-tools") ?? Buffer.of();
  const { message } = await replay({ provider: openaiResponses, model, baseUrl }, { pieces: [bytes] });
  const pruned = { ...message, content: message.content.filter((block) => block.type !== "thinking") };
  const torn = { ...message, stopReason: "aborted" as const, content: message.content.slice(0, 1) };
  const results = [result("call_1", "read_file", []), result("call_2", "now", [])];
  const messages = [user("Read."), pruned, ...results, user("Again."), torn, user("Well?")];
  const text = JSON.stringify(
    await bodyOf(openaiResponses, model, { context: { ...context, messages }, options: {} }, baseUrl),
  );
  for (const id of ["rs_1", "msg_1", "fc_1", "fc_2"]) expect(text).not.toContain(id);
  expect(text).toContain("Reading.");
});

test("sends malformed arguments back as an empty object", async () => {
  const broken = { ...call("call_1", "now", {}), args: undefined, argsText: "{", argsError: "no JSON" };
  const messages = [user("Time?"), said(model, [broken]), result("call_1", "now", [], true)];
  const body = await bodyOf(
    openaiResponses,
    model,
    { context: { ...context, messages }, options: {} },
    baseUrl,
  );
  expect(body).toMatchObject({ input: [{}, { type: "function_call", arguments: "{}" }, {}] });
});

test("fails without a key for the vendor's own server", async () => {
  const stream = openaiResponses.connect({})(model, {
    system: { stable: "" },
    messages: [user("Hi.")],
    tools: [],
  });
  expect((await readToEnd(stream)).error).toMatchObject({ code: "auth", retryable: false, scope: "key" });
});

test("gives calls without ids unique ids for each answer", async () => {
  const idsOf = async (response: string): Promise<string[]> => {
    const item = { type: "function_call", name: "now", arguments: "{}" };
    const events = [
      { type: "response.created", response: { id: response } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.output_item.done", output_index: 1, item },
      { type: "response.completed", response: { id: response, status: "completed", output: [] } },
    ];
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const { message } = await replay(
      { provider: openaiResponses, model, baseUrl },
      { pieces: [Buffer.from(body)] },
    );
    return message.content.flatMap((block) => (block.type === "toolCall" ? block.id : []));
  };
  const ids = [...(await idsOf("resp_1")), ...(await idsOf("resp_2"))];
  expect(ids).toHaveLength(4);
  expect(new Set(ids).size).toBe(4);
});

test.each([
  ["response.failed", "error"],
  ["response.cancelled", "error"],
  ["response.incomplete", "max_tokens"],
  ["response.completed", "tool_use"],
])("uses the event %s if the response has no status", async (type, stopReason) => {
  const item = { type: "function_call", id: "fc_1", call_id: "call_1", name: "t", arguments: "{}" };
  const events = [
    { type: "response.output_item.done", output_index: 0, item },
    { type, response: { id: "resp_1" } },
  ];
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const told = await replay({ provider: openaiResponses, model, baseUrl }, { pieces: [Buffer.from(body)] });
  expect(told.message.stopReason).toBe(stopReason);
});

test("sends the word that a model's quirks give for a level", async () => {
  const own = { ...model, thinking: ["off", "high"], quirks: { efforts: { high: "deepest" } } } as const;
  const body = await bodyOf(openaiResponses, own, {
    context: { system: { stable: "" }, messages: [user("Hi.")], tools: [] },
    options: { thinking: "high" },
  });
  expect(body).toMatchObject({ reasoning: { effort: "deepest" } });
});

describe("tagged reasoning of a server that does not separate it", () => {
  const read = (text: string, address = "https://host.test/v1") => {
    const delta = { type: "response.output_text.delta", output_index: 0, content_index: 0 };
    const item = { type: "message", id: "m", content: [{ type: "output_text", text }] };
    const events = [
      { ...delta, delta: text.slice(0, 4) },
      { ...delta, delta: text.slice(4) },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id: "r", status: "completed", output: [item] } },
    ];
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const { fetch } = wire({ pieces: [Buffer.from(body)] });
    const stream = openaiResponses.connect({ apiKey: "k", baseUrl: address, fetch });
    return readTurn(stream(model, { system: { stable: "" }, messages: [user("Hi.")], tools: [] }));
  };

  it("is not part of the answer", async () => {
    expect((await read("<think>Hm.</think>Yes.")).message.content).toMatchObject([
      { type: "thinking", text: "Hm." },
      { type: "text", text: "Yes." },
    ]);
  });

  it("does not cost a message without tags its id, which must be sent back", async () => {
    expect((await read("Okay, yes.")).message.content).toMatchObject([
      { type: "text", text: "Okay, yes.", native: { data: { id: "m" } } },
    ]);
  });

  it("is text from OpenAI, whose models only quote such tags", async () => {
    const text = "<think>Hm.</think>Yes.";
    expect((await read(text, baseUrl)).message.content).toMatchObject([{ type: "text", text }]);
  });
});
