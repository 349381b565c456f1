import {
  isJsonObject,
  type Message,
  type Model,
  type StreamOptions,
  type ThinkingLevel,
} from "@signalbox/agent-core";
import { describe, expect, test } from "vitest";
import { openaiChat } from "../src/openai-chat/index.ts";
import { chatDialects } from "../src/openai-chat/quirks.ts";
import { call, result, said, tools, user } from "./support/conversations.ts";
import { testModel } from "./support/fixtures.ts";
import { type FinishedTurn, replay } from "./support/replay.ts";
import { bodyOf } from "./support/requests.ts";

/** An address without a dialect. The model's quirks name it. */
const baseUrl = "https://models.test/v1";
const LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "max"];
/** Levels for which some server has its own word, and one without. */
const TOLD: readonly ThinkingLevel[] = ["off", "minimal", "medium", "max"];

/** The behavior that the server's documentation describes. */
interface Behaviour {
  /** A streamed piece of reasoning. */
  readonly reasons: (text: string) => object;
  /** How `<think>` at the start of the text is read. */
  readonly tags: "thinking" | "text";
  /** How the earlier thinking "I see." is sent back, and with which turns. */
  readonly goesBack?: { readonly as: object; readonly of: "every turn" | "the current tool loop" };
  readonly namesTools?: true;
  /** The content of a message that only calls tools. */
  readonly callsWith: "" | null;
  /** The thinking fields of a request for each level of `TOLD`. */
  readonly told: readonly [off: object, minimal: object, medium: object, max: object];
}

const effort = (word: string): object => ({ reasoning_effort: word });
const switched = <T extends object>(how: (on: boolean) => T): Behaviour["told"] => [
  how(false),
  how(true),
  how(true),
  how(true),
];
const reasoningContent = (text: string): object => ({ reasoning_content: text });
const reasoning = (text: string): object => ({ reasoning: text });
const detail = (text: string): object => ({ type: "reasoning.text", format: "f", index: 0, text });
const details = (text: string): object => ({ reasoning_details: [detail(text)] });

const behaviours: Readonly<Record<string, Behaviour>> = {
  openai: {
    // OpenAI sends no reasoning, but a proxy in front of it may.
    reasons: reasoningContent,
    tags: "text",
    callsWith: null,
    told: [effort("none"), effort("minimal"), effort("medium"), effort("xhigh")],
  },
  ollama: {
    reasons: reasoning,
    tags: "thinking",
    callsWith: "",
    told: [effort("none"), effort("low"), effort("medium"), effort("high")],
  },
  vllm: {
    reasons: reasoningContent,
    tags: "thinking",
    callsWith: "",
    told: switched((on) => ({ chat_template_kwargs: { enable_thinking: on } })),
  },
  lmstudio: { reasons: reasoning, tags: "thinking", callsWith: "", told: [{}, {}, {}, {}] },
  deepseek: {
    reasons: reasoningContent,
    tags: "thinking",
    goesBack: { as: { reasoning_content: "I see." }, of: "every turn" },
    callsWith: "",
    told: switched((on) => ({ thinking: { type: on ? "enabled" : "disabled" } })),
  },
  kimi: {
    reasons: reasoningContent,
    tags: "thinking",
    goesBack: { as: { reasoning_content: "I see." }, of: "every turn" },
    callsWith: "",
    told: switched((on) => ({ thinking: { type: on ? "enabled" : "disabled" } })),
  },
  minimax: {
    reasons: details,
    tags: "thinking",
    goesBack: { as: { reasoning_details: [detail("I see.")] }, of: "every turn" },
    namesTools: true,
    callsWith: "",
    told: [{}, {}, {}, {}],
  },
  qwen: {
    reasons: reasoningContent,
    tags: "thinking",
    callsWith: "",
    told: switched((on) => ({ enable_thinking: on })),
  },
  openrouter: {
    reasons: (text) => ({ ...reasoning(text), ...details(text) }),
    tags: "thinking",
    goesBack: { as: { reasoning_details: [detail("I see.")] }, of: "every turn" },
    callsWith: "",
    told: [
      { reasoning: { enabled: false } },
      { reasoning: { effort: "minimal" } },
      { reasoning: { effort: "medium" } },
      { reasoning: { effort: "xhigh" } },
    ],
  },
  groq: {
    reasons: reasoning,
    tags: "thinking",
    callsWith: "",
    told: [effort("none"), effort("low"), effort("medium"), effort("high")],
  },
  compatible: {
    reasons: (text) => ({ reasoning_text: text }),
    tags: "thinking",
    callsWith: "",
    told: [{}, {}, {}, {}],
  },
};

const modelOf = (dialect: string, thinking: Model["thinking"] = LEVELS): Model => ({
  ...testModel("openai-chat", "m", { dialect }),
  thinking,
});

/** Reads a turn that is streamed in these deltas. */
function streamed(model: Model, deltas: readonly object[]): Promise<FinishedTurn> {
  const choices = [
    ...deltas.map((delta) => ({ index: 0, delta, finish_reason: null })),
    { index: 0, delta: {}, finish_reason: "stop" },
  ];
  const events = choices.map((choice) => `data: ${JSON.stringify({ id: "c1", choices: [choice] })}\n\n`);
  return replay(
    { provider: openaiChat, model, baseUrl },
    { pieces: [Buffer.from(`${events.join("")}data: [DONE]\n\n`)] },
  );
}

async function shown(model: Model, deltas: readonly object[]): Promise<unknown[]> {
  const { message } = await streamed(model, deltas);
  return message.content.map((block) => ("text" in block ? [block.type, block.text] : [block.type]));
}

async function requested(
  model: Model,
  messages: readonly Message[],
  options: StreamOptions = {},
): Promise<Readonly<Record<string, unknown>>> {
  const context = { system: { stable: "" }, messages, tools: tools.slice(1) };
  const body = await bodyOf(openaiChat, model, { context, options }, baseUrl);
  if (!isJsonObject(body)) throw new Error("the body is no object");
  return body;
}

/** Two tool loops, the second one unfinished, with the same thinking in each turn. */
async function thoughtful(model: Model, deltas: readonly object[]): Promise<Message[]> {
  const { message } = await streamed(model, deltas);
  const thought = message.content.filter((block) => block.type === "thinking");
  return [
    user("Go."),
    said(model, [...thought, call("call_1", "now", {})]),
    result("call_1", "now", [{ type: "text", text: "Noon." }]),
    said(model, [...thought, { type: "text", text: "Noon it is." }]),
    user("Again."),
    said(model, [...thought, call("call_2", "now", {})]),
    result("call_2", "now", [{ type: "text", text: "One." }]),
  ];
}

test("every dialect is tested here", () => {
  expect(Object.keys(behaviours).sort()).toEqual(Object.keys(chatDialects).sort());
});

describe.each(Object.entries(behaviours))("the dialect %s", (dialect, behaviour) => {
  const model = modelOf(dialect);
  const { reasons, tags, goesBack, namesTools, callsWith, told } = behaviour;

  test("reads the server's reasoning as thinking", async () => {
    expect(await shown(model, [reasons("I "), reasons("see."), { content: "Hi." }])).toEqual([
      ["thinking", "I see."],
      ["text", "Hi."],
    ]);
  });

  test(`takes <think> at the start of the text for ${tags}`, async () => {
    expect(await shown(model, [{ content: "<think>I see.</th" }, { content: "ink>Hi." }])).toEqual(
      tags === "text"
        ? [["text", "<think>I see.</think>Hi."]]
        : [
            ["thinking", "I see."],
            ["text", "Hi."],
          ],
    );
  });

  test(`sends earlier reasoning back with ${goesBack?.of ?? "nothing"}`, async () => {
    const { messages } = await requested(model, await thoughtful(model, [reasons("I "), reasons("see.")]));
    const called = (id: string): object => ({
      role: "assistant",
      content: callsWith,
      tool_calls: [{ id, type: "function", function: { name: "now", arguments: "{}" } }],
    });
    const before = goesBack?.of === "every turn" ? goesBack.as : {};
    const name = namesTools ? { name: "now" } : {};
    expect(messages).toEqual([
      { role: "user", content: "Go." },
      { ...called("call_1"), ...before },
      { role: "tool", tool_call_id: "call_1", content: "Noon.", ...name },
      { role: "assistant", content: "Noon it is.", ...before },
      { role: "user", content: "Again." },
      { ...called("call_2"), ...goesBack?.as },
      { role: "tool", tool_call_id: "call_2", content: "One.", ...name },
    ]);
  });

  test.each(TOLD.map((level, i) => [level, told[i]]))(
    "requests the level %s as %j",
    async (level, wanted) => {
      const hello = [user("Hi.")];
      // The fields that are sent to a model without thinking as well.
      const plain = await requested(modelOf(dialect, []), hello);
      const body = await requested(model, hello, { thinking: level });
      expect(Object.fromEntries(Object.entries(body).filter(([key]) => !(key in plain)))).toEqual(wanted);
    },
  );
});

test.each(["minimax", "openrouter"])(
  "a thought without details goes back to %s in words",
  async (dialect) => {
    const model = modelOf(dialect);
    const { messages } = await requested(model, await thoughtful(model, [reasoning("I see.")]));
    expect(messages).toMatchObject([{}, reasoning("I see."), {}, reasoning("I see."), {}, {}, {}]);
  },
);

test("openrouter's word for off is used as an effort if a model's quirks say so", async () => {
  const model = {
    ...modelOf("openrouter"),
    quirks: { dialect: "openrouter", thinkingStyle: "reasoning_effort" },
  };
  expect(await requested(model, [user("Hi.")], { thinking: "off" })).toMatchObject(effort("none"));
});
