import type { Message, Model, ToolCallBlock } from "@signalbox/agent-core";
import type { Script } from "@signalbox/testkit";
import { startAnthropic } from "@signalbox/testkit/anthropic";
import { startGoogle } from "@signalbox/testkit/google";
import { startMistral } from "@signalbox/testkit/mistral";
import { startOpenAI } from "@signalbox/testkit/openai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { adapt } from "../src/adapt/adapt.ts";
import { toolNameFor, wireTools } from "../src/adapt/names.ts";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { googleGenerative } from "../src/google/index.ts";
import { mistralChat } from "../src/mistral/index.ts";
import { openaiChat } from "../src/openai-chat/index.ts";
import { openaiResponses } from "../src/openai-responses/index.ts";
import type { Provider } from "../src/provider/provider.ts";
import { readTurn } from "../src/testkit/index.ts";
import { call, ODD_NAMES, result, said, tools, user } from "./support/conversations.ts";
import { testModel } from "./support/fixtures.ts";

/** The vendors' rules for names, from their API documents or refusals. */
const RULES: Readonly<Record<string, RegExp>> = {
  "anthropic-messages": /^[a-zA-Z0-9_-]{1,128}$/,
  "openai-responses": /^[a-zA-Z0-9_-]{1,64}$/,
  "openai-chat": /^[a-zA-Z0-9_-]{1,64}$/,
  "mistral-chat": /^[a-zA-Z0-9_-]{1,64}$/,
  "google-generative": /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/,
};
const apis = Object.keys(RULES);

const name = fc.oneof(
  fc.constantFrom(...ODD_NAMES),
  fc.string(),
  fc.string({ unit: "grapheme", maxLength: 400 }),
  fc.stringMatching(/^[a-zA-Z0-9_.-]{1,140}$/),
  // A generated name.
  fc.constantFrom(...ODD_NAMES).map((odd) => toolNameFor("openai-chat", odd)),
);

test.each(apis)("any name becomes a valid and unique one for %s", (api) => {
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 8 }), (names) => {
      const made = names.map((one) => toolNameFor(api, one));
      for (const one of made) expect(one).toMatch(RULES[api] ?? /^$/);
      expect(new Set(made).size).toBe(names.length);
      expect(names.map((one) => toolNameFor(api, one))).toEqual(made);
    }),
    { numRuns: 300 },
  );
});

test.each(apis)("a tool, its calls and their results have the same name for %s", (api) => {
  const model = testModel(api, "m");
  const turn = fc.array(fc.record({ name, answeredAs: fc.option(name, { nil: undefined, freq: 4 }) }), {
    minLength: 1,
    maxLength: 3,
  });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 4 }), (turns) => {
      const history = turns.flatMap((calls, at): Message[] => [
        user("Go on."),
        said(
          model,
          calls.map((one, i) => call(`aaaaaaa${at}${i}`, one.name, {})),
        ),
        ...calls.map((one, i) => result(`aaaaaaa${at}${i}`, one.answeredAs ?? one.name, [])),
      ]);
      const { messages, losses } = adapt(history, model);
      expect(losses).toEqual([]);
      const offered = wireTools(
        api,
        turns.flat().map((one) => ({ name: one.name, description: "", inputSchema: {} })),
      ).tools.map((tool) => tool.name);
      const used = messages.flatMap((message) => {
        if (message.role === "toolResult") return [message.toolName];
        if (message.role === "user") return [];
        return message.content.flatMap((block) => (block.type === "toolCall" ? [block.name] : []));
      });
      for (const one of used) {
        expect(one).toMatch(RULES[api] ?? /^$/);
        expect(offered).toContain(one);
      }
      for (const message of messages)
        if (message.role === "toolResult") {
          const made = messages
            .flatMap((one) => (one.role === "assistant" ? one.content : []))
            .find(
              (block): block is ToolCallBlock => block.type === "toolCall" && block.id === message.toolCallId,
            );
          expect(message.toolName).toBe(made?.name);
        }
    }),
  );
});

/** Calls the first offered tool, whose name was generated from `fs.read`. */
const script: Script = (body) => {
  const wire = /"name":"([^"]*fs[^"]*read[^"]*)"/.exec(JSON.stringify(body))?.[1] ?? "none";
  return { toolCalls: [{ name: wire, input: { path: "a.txt" } }] };
};

const openai = () => startOpenAI({ script }).then((one) => ({ url: one.baseUrl, stop: () => one.stop() }));
const cases: readonly (readonly [
  Provider,
  string,
  () => Promise<{ readonly url: string; stop(): Promise<void> }>,
])[] = [
  [anthropicMessages, "claude-sonnet-4-6", () => startAnthropic({ script })],
  [openaiResponses, "gpt-4.1", openai],
  [openaiChat, "gpt-4.1", openai],
  [mistralChat, "mistral-medium-3.5", () => startMistral({ script })],
  [googleGenerative, "gemini-2.5-flash", () => startGoogle({ script })],
];

describe.each(cases.map(([provider, ...rest]) => [provider.api, provider, ...rest] as const))(
  "%s",
  (_, provider, id, fakeServer) => {
    test("a call gets the tool's own name back, including its dot", async () => {
      const server = await fakeServer();
      const model: Model = testModel(provider.api, id);
      const stream = provider.connect({ apiKey: "test", baseUrl: server.url });
      const [read] = tools;
      if (read === undefined) throw new Error("no tool");
      const offered = [{ ...read, name: "fs.read" }];
      const messages: Message[] = [user("Read it.")];
      for (let turn = 0; turn < 3; turn++) {
        const { message, error, events } = await readTurn(
          stream(
            model,
            { system: { stable: "" }, messages, tools: offered },
            { toolChoice: { name: "fs.read" } },
          ),
        );
        expect(error).toBeUndefined();
        const calls = message.content.filter((block) => block.type === "toolCall");
        expect(calls.map((one) => one.name)).toEqual(["fs.read"]);
        expect(events.find((event) => event.type === "block.start")).toMatchObject({
          block: { name: "fs.read" },
        });
        messages.push(message);
        for (const one of calls) messages.push(result(one.id, one.name, [{ type: "text", text: "A" }]));
      }
      await server.stop();
    });
  },
);
