import type { Message, Model, StreamOptions } from "@signalbox/agent-core";
import type { Script } from "@signalbox/testkit";
import { startGoogle } from "@signalbox/testkit/google";
import { startMistral } from "@signalbox/testkit/mistral";
import { startOpenAI } from "@signalbox/testkit/openai";
import { afterAll, describe, expect, test } from "vitest";
import { googleGenerative } from "../src/google/index.ts";
import { mistralChat } from "../src/mistral/index.ts";
import { openaiChat } from "../src/openai-chat/index.ts";
import { openaiResponses } from "../src/openai-responses/index.ts";
import type { Provider } from "../src/provider/provider.ts";
import { readTurn, wire } from "../src/testkit/index.ts";
import { requestChecker } from "./spec.ts";
import { conversations, result, tools, user } from "./support/conversations.ts";
import { families } from "./support/families.ts";
import { readToEnd } from "./support/replay.ts";
import { bodyOf } from "./support/requests.ts";

const common = { contextWindow: 400_000, maxOutputTokens: 64_000, tools: "native" } as const;
const START = "Start, please.";
const CONTENTS = "The contents.";
const ALL = ["off", "minimal", "low", "medium", "high", "max"] as const;
const MEDIA = ["text", "image", "file", "audio"] as const;

interface Case {
  readonly title: string;
  readonly provider: Provider;
  readonly model: Model;
  /** The vendor's address, which also selects the dialect. */
  readonly baseUrl: string;
  readonly spec: () => ReturnType<typeof requestChecker>;
  readonly fakeServer: () => Promise<{
    readonly url: string;
    readonly requests: readonly { readonly text: string }[];
    stop(): Promise<void>;
  }>;
}

/** Answers "Yes." in JSON, except that it calls tools when asked to start. */
const script: Script = (body) =>
  JSON.stringify(body).includes(START) && !JSON.stringify(body).includes(CONTENTS)
    ? {
        thinking: "I need two files.",
        text: "Reading both.",
        toolCalls: [
          { name: "read_file", input: { path: "a.txt" } },
          { name: "now", input: {} },
        ],
      }
    : { thinking: "Now I know.", text: '"Yes."' };

/** Fields that OpenAI's document requires, but the service and the SDK do not. */
const OPENAI_GAPS = { OutputTextContent: ["logprobs"] };

const openai = (): Promise<Awaited<ReturnType<typeof startOpenAI>> & { url: string }> =>
  startOpenAI({ apiKey: "test", script }).then((one) => ({
    ...one,
    url: one.baseUrl,
  }));

const cases: readonly Case[] = [
  {
    title: "openai-responses, thinking",
    provider: openaiResponses,
    model: {
      ...common,
      id: "gpt-5.2",
      provider: "openai",
      api: "openai-responses",
      input: ["text", "image", "file"],
      thinking: ALL,
    },
    baseUrl: "https://api.openai.com/v1",
    spec: () => requestChecker("openai.yaml", "/responses", OPENAI_GAPS),
    fakeServer: openai,
  },
  {
    title: "openai-responses, not thinking",
    provider: openaiResponses,
    model: {
      ...common,
      id: "gpt-4.1",
      provider: "openai",
      api: "openai-responses",
      input: MEDIA,
      thinking: [],
    },
    baseUrl: "https://api.openai.com/v1",
    spec: () => requestChecker("openai.yaml", "/responses", OPENAI_GAPS),
    fakeServer: openai,
  },
  {
    title: "openai-chat, thinking",
    provider: openaiChat,
    model: {
      ...common,
      id: "gpt-5.2",
      provider: "openai",
      api: "openai-chat",
      input: MEDIA,
      thinking: ALL,
      quirks: { dialect: "openai" },
    },
    baseUrl: "https://api.openai.com/v1",
    spec: () => requestChecker("openai.yaml", "/chat/completions"),
    fakeServer: openai,
  },
  {
    title: "openai-chat, not thinking",
    provider: openaiChat,
    model: {
      ...common,
      id: "gpt-4.1",
      provider: "openai",
      api: "openai-chat",
      input: ["text"],
      thinking: [],
      quirks: { dialect: "openai" },
    },
    baseUrl: "https://api.openai.com/v1",
    spec: () => requestChecker("openai.yaml", "/chat/completions"),
    fakeServer: openai,
  },
  {
    title: "mistral-chat",
    provider: mistralChat,
    model: {
      ...common,
      id: "mistral-medium-3.5",
      provider: "mistral",
      api: "mistral-chat",
      input: MEDIA,
      thinking: ["off", "high"],
    },
    baseUrl: "https://api.mistral.ai",
    spec: () => requestChecker("mistral.yaml", "/v1/chat/completions"),
    fakeServer: () => startMistral({ apiKey: "test", script }),
  },
  {
    title: "mistral-chat, Magistral",
    provider: mistralChat,
    model: {
      ...common,
      id: "magistral-medium-2509",
      provider: "mistral",
      api: "mistral-chat",
      input: ["text"],
      thinking: ["high"],
    },
    baseUrl: "https://api.mistral.ai",
    spec: () => requestChecker("mistral.yaml", "/v1/chat/completions"),
    fakeServer: () => startMistral({ apiKey: "test", script }),
  },
  {
    title: "google-generative, levels",
    provider: googleGenerative,
    model: {
      ...common,
      id: "gemini-3.5-flash",
      provider: "google",
      api: "google-generative",
      input: MEDIA,
      thinking: ["minimal", "low", "medium", "high"],
      quirks: { thinkingAlwaysOn: true },
    },
    baseUrl: "https://generativelanguage.googleapis.com",
    spec: () => requestChecker("gemini.json", "/models/{modelsId}:streamGenerateContent"),
    fakeServer: () => startGoogle({ apiKey: "test", script }),
  },
  {
    title: "google-generative, budgets",
    provider: googleGenerative,
    model: {
      ...common,
      id: "gemini-2.5-flash",
      provider: "google",
      api: "google-generative",
      input: MEDIA,
      thinking: ALL,
    },
    baseUrl: "https://generativelanguage.googleapis.com",
    spec: () => requestChecker("gemini.json", "/models/{modelsId}:streamGenerateContent"),
    fakeServer: () => startGoogle({ apiKey: "test", script }),
  },
];

describe.each(cases)("requests of $title", ({ provider, model, baseUrl, spec, fakeServer }) => {
  const checker = spec();
  const running = fakeServer();
  afterAll(async () => (await running).stop());

  test.skipIf(checker === undefined).each(conversations(model))(
    "follows the API document: $name",
    async (conversation) => {
      const body = await bodyOf(provider, model, conversation, baseUrl);
      expect(checker?.problems(body)).toEqual([]);
    },
  );

  test.each(conversations(model))("follows the vendor's rules: $name", async (conversation) => {
    const { url } = await running;
    const told = await readToEnd(
      provider.connect({ apiKey: "test", baseUrl: url })(model, conversation.context, conversation.options),
    );
    expect(told.terminal).toMatchObject({
      type: "finish",
      message: { stopReason: "end_turn" },
    });
  });

  test.skipIf(checker === undefined)("the API document rejects unknown fields", async () => {
    const [conversation] = conversations(model).filter((one) => one.name === "parallel calls");
    if (conversation === undefined) throw new Error("no such conversation");
    const body = await bodyOf(provider, model, conversation, baseUrl);
    const text = JSON.stringify(body);
    expect(checker?.problems(JSON.parse(text.replace("{", '{"nonsense":1,')))).not.toEqual([]);
    const deep = text.replace(/"(name|call_id)":"(read_file|aaaaaaaa1)"/, '$&,"nonsense":1');
    expect(deep).not.toBe(text);
    expect(checker?.problems(JSON.parse(deep))).not.toEqual([]);
  });

  test("the model's own turns are sent back", async () => {
    const { url, requests } = await running;
    const stream = provider.connect({ apiKey: "test", baseUrl: url });
    const options: StreamOptions = { thinking: "high" };
    const context = { system: { stable: "Be brief." }, tools };
    const messages: Message[] = [user(START)];
    for (const next of [undefined, user("And again?"), user("Thanks.")]) {
      if (next !== undefined) messages.push(next);
      for (let turn = 0; turn < 2; turn++) {
        const told = await readToEnd(stream(model, { ...context, messages }, options));
        expect(told.terminal.type, JSON.stringify(told.terminal)).toBe("finish");
        messages.push(told.message);
        const calls = told.message.content.filter((block) => block.type === "toolCall");
        for (const one of calls) messages.push(result(one.id, one.name, [{ type: "text", text: CONTENTS }]));
        if (calls.length === 0) break;
      }
      const sent: unknown = JSON.parse(requests.at(-1)?.text ?? "");
      if (checker !== undefined) expect(checker.problems(sent)).toEqual([]);
    }
    expect(messages.map((message) => message.role).join(" ")).toBe(
      "user assistant toolResult toolResult assistant user assistant user assistant",
    );
  });
});

test.each(families)("$provider.api sends no key if there is none", async ({ provider, model }) => {
  const line = wire({ pieces: [] });
  const stream = provider.connect({
    baseUrl: "http://own.test",
    fetch: line.fetch,
    headers: { "x-team": "blue" },
  });
  await readTurn(stream(model, { system: { stable: "" }, messages: [user("Hi.")], tools: [] }));
  const [sent] = line.requests;
  expect(Object.keys(sent?.headers ?? {}).filter((name) => /key|authorization/.test(name))).toEqual([]);
  expect(sent?.headers).toMatchObject({ "x-team": "blue" });
});
