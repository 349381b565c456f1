// Requests that a server refuses once, and what the provider learns from it.
import {
  type AssistantMessage,
  type Block,
  isJsonObject,
  type JsonObject,
  type Message,
  type Model,
  type ModelContext,
  type StreamModel,
  type StreamOptions,
  type ToolSpec,
} from "@signalbox/agent-core";
import { startAnthropic } from "@signalbox/testkit/anthropic";
import { type OpenAIOptions, startOpenAI } from "@signalbox/testkit/openai";
import { describe, expect, it, onTestFinished } from "vitest";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { openaiChat } from "../src/openai-chat/index.ts";
import { type ReadTurn, readTurn, wire } from "../src/testkit/index.ts";
import { testModel } from "./support/fixtures.ts";

const user = (content: string): Message => ({ role: "user", content, timestamp: 0 });
const tool = (name: string, inputSchema: JsonObject): ToolSpec => ({
  name,
  description: "A tool.",
  inputSchema,
});
const good = tool("good", { type: "object", properties: { q: { type: "string" } } });

function ask(
  stream: StreamModel,
  model: Model,
  context: Partial<ModelContext> = {},
  options: StreamOptions = {},
): Promise<ReadTurn> {
  return readTurn(
    stream(model, { system: { stable: "" }, messages: [user("Hi.")], tools: [], ...context }, options),
  );
}

const warnings = ({ events: [start] }: ReadTurn): string[] =>
  start?.type === "start" ? start.warnings.map(({ code }) => code) : [];

/** A fake server that answers "Yes.", and a connection to it. */
async function serve(options: Omit<OpenAIOptions, "script"> = {}) {
  const server = await startOpenAI({ script: () => ({ text: "Yes." }), ...options });
  onTestFinished(() => server.stop());
  const stream = openaiChat.connect({ apiKey: "k", baseUrl: server.baseUrl });
  const bodies = (): JsonObject[] =>
    server.requests.map(({ text }) => {
      const body: unknown = JSON.parse(text);
      return isJsonObject(body) ? body : {};
    });
  return { stream, bodies };
}

/** A server that refuses in these words as long as `isWrong` holds for a request, and answers "Yes." otherwise. */
function refusing(isWrong: (body: JsonObject) => boolean, status: number, error: string | JsonObject) {
  const bodies: JsonObject[] = [];
  const yes = { choices: [{ index: 0, delta: { content: "Yes." }, finish_reason: "stop" }] };
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const body: JsonObject = JSON.parse(String(init?.body));
    bodies.push(body);
    const text = typeof error === "string" ? error : JSON.stringify({ error });
    const answer = isWrong(body)
      ? { status, headers: { "content-type": "application/json" }, pieces: [Buffer.from(text)] }
      : { pieces: [Buffer.from(`data: ${JSON.stringify(yes)}\n\ndata: [DONE]\n\n`)] };
    return wire(answer).fetch(input, init);
  };
  return { bodies, stream: openaiChat.connect({ baseUrl: "https://host.test/v1", fetch }) };
}

describe("reasoning that a server wants back", () => {
  const call: Block = { type: "toolCall", id: "call_1", name: "good", args: {}, argsText: "{}" };
  const said = (model: Model, content: readonly Block[]): AssistantMessage => ({
    role: "assistant",
    content,
    api: model.api,
    provider: model.provider,
    model: model.id,
    stopReason: "tool_use",
    timestamp: 0,
  });
  const thinking = (model: Model): Block => ({
    type: "thinking",
    text: "I should look.",
    native: {
      api: model.api,
      provider: model.provider,
      model: model.id,
      data: { field: "reasoning_content" },
    },
  });
  const history = (model: Model, content: readonly Block[]): Message[] => [
    user("Look."),
    said(model, content),
    { role: "toolResult", toolCallId: "call_1", toolName: "good", content: [], isError: false, timestamp: 0 },
    user("Thanks."),
  ];
  const accepts = ["thinking", "assistant.reasoning_content"];

  it.each(["deepseek", "kimi"] as const)(
    "is sent to %s from the start, also for turns without any",
    async (vendor) => {
      const model = {
        ...testModel("openai-chat", "m", { dialect: vendor }),
        thinking: ["off", "high"] as const,
      };
      const { stream, bodies } = await serve({ dialect: { accepts, requiresReasoning: vendor } });
      for (const content of [[thinking(model), call], [call]]) {
        const turn = await ask(
          stream,
          model,
          { messages: history(model, content), tools: [good] },
          { thinking: "high" },
        );
        expect(turn.error).toBeUndefined();
      }
      expect(bodies()).toHaveLength(2);
    },
  );

  it.each(["deepseek", "kimi"] as const)("is sent to any host that refuses like %s", async (vendor) => {
    const model = testModel("openai-chat", "m");
    const { stream, bodies } = await serve({ dialect: { accepts, requiresReasoning: vendor } });
    const context = { messages: history(model, [thinking(model), call]), tools: [good] };
    for (let turns = 0; turns < 2; turns++) expect((await ask(stream, model, context)).error).toBeUndefined();
    expect(bodies()).toHaveLength(3);
    expect(bodies()[1]).toMatchObject({ messages: [{}, { reasoning_content: "I should look." }, {}, {}] });
  });

  it("is sent to a server of Anthropic's API although it has no signature", async () => {
    const model = { ...testModel("anthropic-messages", "m"), thinking: ["off", "high"] as const };
    const bodies: JsonObject[] = [];
    const refusal = {
      error: {
        type: "invalid_request_error",
        message: "The `content[].thinking` in the thinking mode must be passed back to the API.",
      },
    };
    const stream = anthropicMessages.connect({
      apiKey: "k",
      baseUrl: "https://host.test",
      fetch: async (input, init) => {
        const text = String(init?.body);
        bodies.push(JSON.parse(text));
        const pieces = [Buffer.from(JSON.stringify(refusal))];
        if (!text.includes('"type":"thinking"'))
          return wire({ status: 400, headers: { "content-type": "application/json" }, pieces }).fetch(
            input,
            init,
          );
        const events = [
          { type: "message_start", message: {} },
          { type: "message_delta", delta: { stop_reason: "end_turn" } },
          { type: "message_stop" },
        ];
        const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
        return wire({ pieces: [Buffer.from(body)] }).fetch(input, init);
      },
    });
    const unsigned: Block = { type: "thinking", text: "I should look." };
    const turn = await ask(stream, model, { messages: history(model, [unsigned, call]), tools: [good] });
    expect(turn.error).toBeUndefined();
    expect(bodies).toHaveLength(2);
  });
});

describe("a tool that a vendor refuses", () => {
  const odata = tool("odata", { type: "object", properties: { $filter: { type: "string" } } });
  const either = tool("either", {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "string" } },
    anyOf: [{ required: ["a"] }, { required: ["b"] }],
  });
  const draft4 = tool("draft4", {
    type: "object",
    properties: {
      n: { type: "number", minimum: 0, exclusiveMinimum: true },
      x: { type: "any" },
      y: { type: "array" },
    },
  });

  it("is adapted, so that Anthropic and OpenAI accept it", async () => {
    const anthropic = await startAnthropic({
      script: () => ({ toolCalls: [{ name: "odata", input: { _filter: "x" } }] }),
    });
    onTestFinished(() => anthropic.stop());
    const model = testModel("anthropic-messages", "claude-x");
    const stream = anthropicMessages.connect({ apiKey: "k", baseUrl: anthropic.url });
    const tools = [good, odata, either, draft4];
    const turn = await ask(stream, model, { tools });
    expect(turn.error).toBeUndefined();
    expect(turn.message.content).toMatchObject([{ type: "toolCall", name: "odata", args: { $filter: "x" } }]);
    const messages: Message[] = [
      user("Hi."),
      turn.message,
      { role: "toolResult", toolCallId: "x", toolName: "odata", content: [], isError: false, timestamp: 0 },
    ];
    expect((await ask(stream, model, { tools, messages })).error).toBeUndefined();
    expect(anthropic.requests.at(-1)?.text).toContain('"input":{"_filter":"x"}');

    const openai = await serve();
    expect((await ask(openai.stream, testModel("openai-chat", "m"), { tools })).error).toBeUndefined();
  });

  it.each([
    "tools.1.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
    "Invalid schema for function 'bad': In context=('properties', 'a'), schema must have a 'type' key.",
    "Invalid value at 'tools[1].function.parameters' (type.googleapis.com/google.protobuf.Struct)",
    "* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[a].items: missing field.",
  ])("is left out by name, and the agent goes on: %s", async (message) => {
    const bad = tool("bad", { type: "object", properties: { a: { type: "string" } } });
    const { stream, bodies } = refusing((body) => JSON.stringify(body.tools).includes('"bad"'), 400, {
      message,
    });
    const tools = [good, bad];
    for (let turns = 0; turns < 2; turns++) {
      const turn = await ask(stream, testModel("openai-chat", "m"), { tools });
      expect(turn.error).toBeUndefined();
      expect(warnings(turn)).toEqual(["tool_dropped"]);
    }
    expect(bodies).toHaveLength(3);
    const changed = tool("bad", { type: "object", properties: {} });
    await ask(stream, testModel("openai-chat", "m"), { tools: [good, changed] });
    expect(JSON.stringify(bodies[3]?.tools)).toContain('"bad"');
  });
});

describe("schemas of tools that a server refuses without naming a tool", () => {
  const start = { type: "string", pattern: "^(?=x)\\d+$", maxLength: 9, format: "date" };
  const list = tool("list", {
    type: "object",
    properties: {
      start,
      page: { anyOf: [{ not: {} }, { type: ["integer", "null"], minimum: 1 }], description: "The page." },
      place: { $ref: "#/$defs/place", description: "Where." },
    },
    required: ["start", "gone"],
    additionalProperties: false,
    $defs: { place: { type: "object", properties: { city: { const: "Bern" } } } },
  });
  const isComplex = (body: JsonObject): boolean => /pattern|anyOf|\$ref/.test(toolsOf(body));
  const toolsOf = (body: JsonObject): string =>
    JSON.stringify(
      [body.tools]
        .flat()
        .map((one) => isJsonObject(one) && isJsonObject(one.function) && one.function.parameters),
    );

  it.each([
    [
      400,
      "tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.page': when using anyOf, type should be defined in anyOf items instead of the parent schema>",
    ],
    [400, "Failed to initialize samplers: failed to parse grammar"],
    [400, "JSON schema conversion failed:\nPattern must start with '^' and end with '$'"],
    [500, "JSON schema conversion failed:\nUnrecognized schema: {}"],
    [
      400,
      "json: cannot unmarshal array into Go struct field .tools.function.parameters.properties.type of type string",
    ],
  ])("are reduced to basic keywords, once for all requests: %i %s", async (status, message) => {
    const { stream, bodies } = refusing(isComplex, status, { message });
    for (let turns = 0; turns < 2; turns++) {
      const turn = await ask(stream, testModel("openai-chat", "m"), { tools: [good, list] });
      expect(turn.error).toBeUndefined();
      expect(warnings(turn)).toEqual([]);
    }
    expect(bodies).toHaveLength(3);
    expect(JSON.parse(toolsOf(bodies[2] ?? {}))[1]).toEqual({
      type: "object",
      properties: {
        start: { type: "string" },
        page: { type: "integer", description: "The page." },
        place: {
          type: "object",
          description: "Where.",
          properties: { city: { enum: ["Bern"] } },
        },
      },
      required: ["start"],
    });
    expect(JSON.stringify(bodies[2]?.tools)).toContain("must also match this JSON Schema");
  });

  it("lead to the tool with the named property if plain schemas are refused too", async () => {
    const message =
      "tools.function.parameters is not valid, details: <At path 'properties.start': bad schema>";
    const { stream, bodies } = refusing((body) => toolsOf(body).includes("start"), 400, { message });
    const turn = await ask(stream, testModel("openai-chat", "m"), { tools: [good, list] });
    expect(turn.error).toBeUndefined();
    expect(warnings(turn)).toEqual(["tool_dropped"]);
    expect(bodies).toHaveLength(3);
  });

  it("are not changed by a refusal of the answer's schema", async () => {
    const { stream, bodies } = refusing(() => true, 400, { message: "Invalid schema for response_format" });
    const turn = await ask(stream, testModel("openai-chat", "m"), { tools: [list] });
    expect(turn.error).toMatchObject({ code: "invalid" });
    expect(bodies).toHaveLength(1);
  });
});

it("more tools than OpenAI accepts are left out, the last ones first", async () => {
  const { stream, bodies } = await serve();
  const tools = Array.from({ length: 130 }, (_, at) =>
    tool(`tool_${at}`, { type: "object", properties: {} }),
  );
  for (let turns = 0; turns < 2; turns++) {
    const turn = await ask(stream, testModel("openai-chat", "m"), { tools });
    expect(turn.error).toBeUndefined();
    expect(warnings(turn)).toEqual(["tool_dropped"]);
  }
  const counts = bodies().map((body) => (Array.isArray(body.tools) ? body.tools.length : 0));
  expect(counts).toEqual([130, 128, 128]);
});

describe("a field that a server refuses", () => {
  it.each([
    [
      "temperature",
      {
        message: "Unsupported parameter: 'temperature' is not supported with this model.",
        param: "temperature",
      },
    ],
    ["seed", { message: "Unrecognized request argument supplied: seed" }],
    ["seed", { message: "body.seed: Extra inputs are not permitted" }],
    ["stream_options", { message: "property 'stream_options' is unsupported" }],
    ["tool_choice", { message: "`tool_choice` is not supported by this model" }],
  ] as const)("is left out from then on: %s", async (field, error) => {
    const { stream, bodies } = refusing((body) => Object.hasOwn(body, field), 400, error);
    const options = { temperature: 0.5, seed: 1, toolChoice: "required" } as const;
    for (let turns = 0; turns < 2; turns++) {
      const turn = await ask(stream, testModel("openai-chat", "m"), { tools: [good] }, options);
      expect(turn.error).toBeUndefined();
      expect(warnings(turn)).toEqual(["field_dropped"]);
    }
    expect(bodies).toHaveLength(3);
  });

  it("is renamed if the server says how", async () => {
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    const { stream, bodies } = refusing((body) => "max_tokens" in body, 400, {
      message,
      param: "max_tokens",
    });
    expect((await ask(stream, testModel("openai-chat", "m"))).error).toBeUndefined();
    expect(bodies[1]).toMatchObject({ max_completion_tokens: 8_000 });
  });

  it("fails the request if it is required", async () => {
    const { stream, bodies } = refusing(() => true, 400, {
      message: "Unknown parameter: 'messages[0].name'.",
      param: "messages[0].name",
    });
    expect((await ask(stream, testModel("openai-chat", "m"))).error).toMatchObject({ code: "invalid" });
    expect(bodies).toHaveLength(1);
  });
});

describe("room for the answer", () => {
  const small: Model = { ...testModel("openai-chat", "m"), contextWindow: 8_192, maxOutputTokens: 4_096 };
  const long = user("word ".repeat(3_500));

  it("is what the prompt leaves of the window", async () => {
    const { stream, bodies } = await serve({ contextWindow: 8_192, windowIncludesOutput: true });
    expect((await ask(stream, small, { messages: [long] })).error).toBeUndefined();
    const tiny: Model = { ...small, contextWindow: 4_096 };
    await ask(stream, tiny, { messages: [user("word ".repeat(1_800))] });
    expect(Number(bodies()[1]?.max_tokens)).toBeLessThan(4_096 - 2_200);
    const thinker: Model = {
      ...small,
      contextWindow: 32_768,
      maxOutputTokens: 32_768,
      thinking: ["off", "high"],
    };
    await ask(stream, thinker, {}, { thinking: "high" });
    expect(Number(bodies()[2]?.max_tokens)).toBeLessThan(32_768);
  });

  it("is learned if the window is smaller than it is said to be", async () => {
    const { stream, bodies } = await serve({ contextWindow: 8_192, windowIncludesOutput: true });
    const wrong: Model = { ...small, contextWindow: 128_000, maxOutputTokens: 8_000 };
    for (let turns = 0; turns < 2; turns++)
      expect((await ask(stream, wrong, { messages: [long] })).error).toBeUndefined();
    expect(bodies()).toHaveLength(3);
  });

  it.each([
    "max_tokens is too large: 8000. This model supports at most 4096 completion tokens, whereas you provided 8000.",
    "max_tokens: 8000 > 4096, which is the maximum allowed number of output tokens for claude-3-opus-20240229",
    "Invalid max_tokens value, the valid range of max_tokens is [1, 4096]",
    "`max_tokens` must be less than or equal to `4096`, the maximum value for `max_tokens` is less than the `context_window` for this model",
    "Range of max_tokens should be [1, 4096]",
    "it has a maxOutputTokens value of 8000 but the supported range is from 1 (inclusive) to 4097 (exclusive).",
  ])("is limited to what the server names: %s", async (message) => {
    const { stream, bodies } = refusing((body) => Number(body.max_tokens) > 4_096, 400, { message });
    for (let turns = 0; turns < 2; turns++)
      expect((await ask(stream, testModel("openai-chat", "m"))).error).toBeUndefined();
    expect(bodies.map((body) => body.max_tokens)).toEqual([8_000, 4_096, 4_096]);
  });

  it.each([
    "This model's maximum context length is 9000 tokens. However, you requested 10500 tokens (2500 in the messages, 8000 in the completion).",
    "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context length is 9000 tokens and your request has 2500 input tokens (8000 > 9000 - 2500).",
    "input length and `max_tokens` exceed context limit: 2500 + 8000 > 9000, decrease input length or `max_tokens` and try again",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 9000. Given: 2500 `inputs` tokens and 8000 `max_new_tokens`",
  ])("is read from a refusal: %s", async (message) => {
    const { stream, bodies } = refusing((body) => Number(body.max_tokens) > 6_500, 400, { message });
    expect((await ask(stream, testModel("openai-chat", "m"))).error).toBeUndefined();
    expect(bodies.map((body) => body.max_tokens)).toEqual([8_000, 6_484]);
  });

  it("is an overflow if the prompt alone is too long", async () => {
    const message =
      "This model's maximum context length is 9000 tokens. However, you requested 17500 tokens (9500 in the messages, 8000 in the completion).";
    const { stream, bodies } = refusing(() => true, 400, { message });
    expect((await ask(stream, testModel("openai-chat", "m"))).error).toMatchObject({ code: "overflow" });
    expect(bodies).toHaveLength(1);
  });
});

describe("a refusal without words", () => {
  it("is an overflow for the longest request so far, and invalid for any other", async () => {
    const { stream } = refusing((body) => JSON.stringify(body).length > 9_000, 400, "");
    const model = testModel("openai-chat", "m");
    expect((await ask(stream, model)).error).toBeUndefined();
    expect((await ask(stream, model, { messages: [user("word ".repeat(2_000))] })).error).toMatchObject({
      code: "overflow",
    });
    const never = refusing(() => true, 400, "{}");
    expect((await ask(never.stream, model)).error).toMatchObject({ code: "invalid" });
  });
});

it("blank texts of tools are not sent", async () => {
  const server = await startAnthropic({ script: () => ({ text: "Yes." }) });
  onTestFinished(() => server.stop());
  const model = testModel("anthropic-messages", "claude-x");
  const called: AssistantMessage = {
    role: "assistant",
    content: [{ type: "toolCall", id: "toolu_1", name: "good", args: {}, argsText: "{}" }],
    api: model.api,
    provider: model.provider,
    model: model.id,
    stopReason: "tool_use",
    timestamp: 0,
  };
  for (const text of ["", " \n"]) {
    const result: Message = {
      role: "toolResult",
      toolCallId: "toolu_1",
      toolName: "good",
      content: [{ type: "text", text }],
      isError: false,
      timestamp: 0,
    };
    const messages = [user("Go."), called, result];
    const stream = anthropicMessages.connect({ apiKey: "k", baseUrl: server.url });
    expect((await ask(stream, model, { messages, tools: [good] })).error).toBeUndefined();
  }
});

it("half surrogates in tools and the system prompt become U+FFFD", async () => {
  const { stream, bodies } = await serve();
  const half = tool("half", { type: "object", properties: { a: { type: "string", description: "\ud83d" } } });
  await ask(stream, testModel("openai-chat", "m"), { system: { stable: "\ude00" }, tools: [half] });
  expect(JSON.stringify(bodies())).not.toMatch(/\\ud[89a-f]/i);
});
