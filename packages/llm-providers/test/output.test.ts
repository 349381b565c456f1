import { type ModelEvent, type StreamOptions, textOf } from "@signalbox/agent-core";
import { describe, expect, test } from "vitest";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { demo, demoModel } from "../src/demo/index.ts";
import { googleGenerative } from "../src/google/index.ts";
import { mistralChat } from "../src/mistral/index.ts";
import { openaiChat } from "../src/openai-chat/index.ts";
import { openaiResponses } from "../src/openai-responses/index.ts";
import type { Provider } from "../src/provider/provider.ts";
import { readTurn, wire } from "../src/testkit/index.ts";
import { withTextTools } from "../src/text-tools/stream.ts";
import { tools, user } from "./support/conversations.ts";
import { testModel } from "./support/fixtures.ts";

const schema = {
  type: "object",
  properties: { n: { type: "integer", minimum: 1 } },
  required: ["n"],
} as const;

interface Asked {
  readonly provider: Provider;
  readonly id?: string;
  readonly baseUrl?: string;
  readonly withTools?: boolean;
  readonly quirks?: Readonly<Record<string, string | boolean>>;
}

/** Returns the request body and the warnings for these options. */
async function ask(
  { provider, id = "m", baseUrl = "https://vendor.test", ...asked }: Asked,
  options: StreamOptions,
) {
  const line = wire({ pieces: [] });
  const stream = provider.connect({ apiKey: "k", baseUrl, fetch: line.fetch });
  const model = { ...testModel(provider.api, "p"), id, ...(asked.quirks && { quirks: asked.quirks }) };
  const context = { system: { stable: "" }, messages: [user("Hi.")], tools: asked.withTools ? tools : [] };
  const { events } = await readTurn(stream(model, context, options));
  const body: Record<string, unknown> = JSON.parse(line.requests[0]?.body ?? "{}");
  return { body, warnings: warningsIn(events) };
}

function warningsIn(events: readonly ModelEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === "start" ? event.warnings : [])).map(({ code }) => code);
}

const chat = { provider: openaiChat };
const schemaFormat = { type: "json_schema", json_schema: { name: "answer", schema, strict: false } };
const anySchema = {
  type: "json_schema",
  json_schema: { name: "answer", schema: { type: "object" }, strict: false },
};

/** Reads this answer, in pieces, from a server without an option for JSON. */
function answerInWords(text: string) {
  const chunks = [...text].map((content) => ({ choices: [{ index: 0, delta: { content } }] }));
  const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  const body = [...chunks, end].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  const line = wire({ pieces: [Buffer.from(body)] });
  const model = testModel("openai-chat", "m", { jsonObject: false, jsonSchema: false });
  const stream = openaiChat.connect({ baseUrl: "https://vendor.test", fetch: line.fetch });
  const context = { system: { stable: "" }, messages: [user("Count.")], tools: [] };
  return readTurn(stream(model, context, { json: {} }));
}

describe("JSON is requested", () => {
  test.each<[string, Asked, StreamOptions["json"], object, readonly string[]]>([
    ["Responses", { provider: openaiResponses }, {}, { text: { format: { type: "json_object" } } }, []],
    [
      "Responses, of a schema",
      { provider: openaiResponses },
      { name: "count", schema, strict: true },
      { text: { format: { type: "json_schema", name: "count", schema, strict: true } } },
      [],
    ],
    ["Chat Completions", chat, {}, { response_format: { type: "json_object" } }, []],
    ["Chat Completions, of a schema", chat, { schema }, { response_format: schemaFormat }, []],
    [
      "DeepSeek, of a schema",
      { ...chat, baseUrl: "https://api.deepseek.com" },
      { schema },
      { response_format: { type: "json_object" } },
      ["json_dropped"],
    ],
    ["LM Studio", { ...chat, baseUrl: "http://127.0.0.1:1234/v1" }, {}, { response_format: anySchema }, []],
    [
      "a server that knows neither",
      { ...chat, quirks: { jsonObject: false, jsonSchema: false } },
      { schema },
      { response_format: undefined },
      ["json_dropped"],
    ],
    ["Mistral", { provider: mistralChat }, {}, { response_format: { type: "json_object" } }, []],
    ["Mistral, of a schema", { provider: mistralChat }, { schema }, { response_format: schemaFormat }, []],
    [
      "Gemini",
      { provider: googleGenerative },
      {},
      { generationConfig: { responseMimeType: "application/json" } },
      [],
    ],
    [
      "Gemini, of a schema",
      { provider: googleGenerative },
      { schema },
      { generationConfig: { responseMimeType: "application/json", responseJsonSchema: schema } },
      [],
    ],
    [
      "Gemini 2.5 with tools",
      { provider: googleGenerative, id: "gemini-2.5-flash", withTools: true },
      { schema },
      { generationConfig: { maxOutputTokens: expect.any(Number) } },
      ["json_dropped"],
    ],
    [
      "Gemini 3 with tools",
      { provider: googleGenerative, id: "gemini-3.5-flash", withTools: true },
      { schema },
      { generationConfig: { responseMimeType: "application/json" } },
      [],
    ],
    [
      "Anthropic, of a schema, which is made one that it takes",
      { provider: anthropicMessages },
      { schema },
      {
        output_config: {
          format: {
            type: "json_schema",
            schema: {
              type: "object",
              properties: { n: { type: "integer", description: "{minimum: 1}" } },
              additionalProperties: false,
              required: ["n"],
            },
          },
        },
      },
      [],
    ],
    ["Anthropic", { provider: anthropicMessages }, {}, { output_config: undefined }, ["json_dropped"]],
    [
      "Anthropic, of a schema that says nothing",
      { provider: anthropicMessages },
      { schema: {} },
      { output_config: undefined },
      ["json_dropped"],
    ],
    [
      "a server like Anthropic's that cannot",
      { provider: anthropicMessages, quirks: { jsonSchema: false } },
      { schema },
      { output_config: undefined },
      ["json_dropped"],
    ],
  ])("%s", async (_, asked, json, expected, codes) => {
    const { body, warnings } = await ask(asked, json === undefined ? {} : { json });
    for (const [name, value] of Object.entries(expected)) {
      if (value === undefined) expect(body).not.toHaveProperty(name);
      else expect(body[name]).toMatchObject(value);
    }
    expect(warnings).toEqual(codes);
  });

  test.each([
    ["Anthropic", { provider: anthropicMessages }, {}],
    [
      "a server that knows neither",
      { ...chat, quirks: { jsonObject: false, jsonSchema: false } },
      { schema },
    ],
    ["DeepSeek", { ...chat, baseUrl: "https://api.deepseek.com" }, { schema }],
    [
      "Gemini 2.5 with tools",
      { provider: googleGenerative, id: "gemini-2.5-flash", withTools: true },
      { schema },
    ],
  ] as const)("in the prompt if %s has no option for it", async (_, asked, json) => {
    const { body } = await ask(asked, { json });
    const system = JSON.stringify(body.system ?? body.systemInstruction ?? body.messages);
    expect(system).toContain("Answer with one JSON");
    if ("schema" in json) expect(system).toContain("minimum");
  });

  test.each([
    ['```json\n{"n":1}\n```', '{"n":1}'],
    ['{"n":1}', '{"n":1}'],
  ])("in the prompt, and a code fence around the answer is removed: %j", async (text, expected) => {
    const { error, message } = await answerInWords(text);
    expect(error).toBeUndefined();
    expect(textOf(message.content)).toBe(expected);
  });

  test("in the prompt, and an answer in prose is a failure", async () => {
    const { error } = await answerInWords("The number is 1.");
    expect(error).toMatchObject({ code: "protocol", message: expect.stringContaining("prose") });
  });

  test("with the word JSON in the prompt, as OpenAI requires", async () => {
    for (const asked of [chat, { provider: openaiResponses }])
      expect(JSON.stringify((await ask(asked, { json: {} })).body)).toContain("one JSON object");
  });

  test("not from the demo, which warns", async () => {
    const context = { system: { stable: "" }, messages: [user("Hi.")], tools: [] };
    const { events } = await readTurn(demo.connect({})(demoModel, context, { json: {} }));
    expect(warningsIn(events)).toEqual(["json_dropped"]);
  });

  test("from a model that calls tools in its text only if there are none", async () => {
    const line = wire({ pieces: [] });
    const stream = withTextTools(openaiChat.connect({ baseUrl: "https://vendor.test", fetch: line.fetch }));
    for (const offered of [tools, []]) {
      const context = { system: { stable: "" }, messages: [user("Hi.")], tools: offered };
      const { events } = await readTurn(stream(testModel("openai-chat", "p"), context, { json: {} }));
      expect(warningsIn(events)).toEqual(offered.length > 0 ? ["json_dropped"] : []);
    }
    const formats = line.requests.map(({ body }) => JSON.parse(body).response_format);
    expect(formats).toEqual([undefined, { type: "json_object" }]);
  });
});

describe("sampling", () => {
  const sampled = { topP: 0.5, seed: 7 };
  test.each<[string, Asked, StreamOptions, object, readonly string[]]>([
    ["Responses", { provider: openaiResponses }, sampled, { top_p: 0.5, seed: undefined }, ["seed_dropped"]],
    ["Chat Completions", chat, sampled, { top_p: 0.5, seed: 7 }, []],
    [
      "a model that takes none",
      { ...chat, quirks: { temperature: false } },
      { ...sampled, temperature: 0.5 },
      { top_p: undefined, temperature: undefined, seed: 7 },
      ["temperature_dropped", "top_p_dropped"],
    ],
    ["Mistral", { provider: mistralChat }, sampled, { top_p: 0.5, random_seed: 7 }, []],
    ["Gemini", { provider: googleGenerative }, sampled, { generationConfig: { topP: 0.5, seed: 7 } }, []],
    [
      "Anthropic",
      { provider: anthropicMessages },
      sampled,
      { top_p: 0.5, seed: undefined },
      ["seed_dropped"],
    ],
    [
      "Anthropic, which takes a temperature or top_p",
      { provider: anthropicMessages },
      { topP: 0.5, temperature: 0.2 },
      { temperature: 0.2, top_p: undefined },
      ["top_p_dropped"],
    ],
    [
      "Anthropic, where 1 is no wish",
      { provider: anthropicMessages, quirks: { temperature: false } },
      { topP: 1, temperature: 1 },
      { temperature: undefined, top_p: undefined },
      [],
    ],
  ])("is sent to %s", async (_, asked, options, expected, codes) => {
    const { body, warnings } = await ask(asked, options);
    for (const [name, value] of Object.entries(expected)) {
      if (value === undefined) expect(body).not.toHaveProperty(name);
      else if (typeof value === "object") expect(body[name]).toMatchObject(value);
      else expect(body[name]).toBe(value);
    }
    expect(warnings).toEqual(codes);
  });
});
