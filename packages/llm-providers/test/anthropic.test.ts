import type {
  AssistantMessage,
  Message,
  Model,
  ModelContext,
  StreamOptions,
  ToolSpec,
} from "@signalbox/agent-core";
import type { Script } from "@signalbox/testkit";
import { type AnthropicOptions, startAnthropic } from "@signalbox/testkit/anthropic";
import { describe, expect, it } from "vitest";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { createCatalogue } from "../src/catalogue/catalogue.ts";
import { type ReadTurn, readTurn } from "../src/testkit/index.ts";

const catalogue = createCatalogue();

function claude(id: string): Model {
  const model = catalogue.resolve(`anthropic/${id}`)?.model;
  if (model === undefined) throw new Error(`no model ${id}`);
  return model;
}

const SONNET = claude("claude-sonnet-4-6");
const TOOLS: readonly ToolSpec[] = [
  { name: "read", description: "Reads.", inputSchema: { type: "object", properties: {} } },
  { name: "write", description: "Writes.", inputSchema: { type: "object", properties: {} } },
];
const hello: Message = { role: "user", content: "Hello.", timestamp: 0 };

interface Body {
  readonly max_tokens: number;
  readonly system?: readonly { readonly text: string; readonly cache_control?: unknown }[];
  readonly tools?: readonly { readonly name: string; readonly cache_control?: unknown }[];
  readonly tool_choice?: unknown;
  readonly thinking?: unknown;
  readonly output_config?: unknown;
  readonly temperature?: number;
  readonly messages: readonly {
    readonly role: string;
    readonly content: readonly Record<string, unknown>[];
  }[];
}

interface Asked {
  readonly turn: ReadTurn;
  readonly bodies: readonly Body[];
}

/** Sends requests to a fake server with this script and returns what it received. */
async function ask(
  asked: { model?: Model; context?: Partial<ModelContext>; options?: StreamOptions; script?: Script },
  fakeServerOptions: Partial<AnthropicOptions> = {},
): Promise<Asked> {
  const fakeServer = await startAnthropic({
    script: asked.script ?? [{ text: "Hi." }],
    ...fakeServerOptions,
  });
  try {
    const stream = anthropicMessages.connect({ apiKey: "k", baseUrl: fakeServer.url });
    const context = { system: { stable: "" }, messages: [hello], tools: [], ...asked.context };
    const turn = await readTurn(stream(asked.model ?? SONNET, context, asked.options));
    return { turn, bodies: fakeServer.requests.map((request) => JSON.parse(request.text)) };
  } finally {
    await fakeServer.stop();
  }
}

async function bodyOf(...args: Parameters<typeof ask>): Promise<Body> {
  const { bodies } = await ask(...args);
  const [body] = bodies;
  if (body === undefined) throw new Error("nothing was asked");
  return body;
}

const warnings = (turn: ReadTurn): string[] =>
  turn.events.flatMap((event) => (event.type === "start" ? event.warnings.map((one) => one.code) : []));

describe("prompt caching", () => {
  const system = { stable: "Be brief.", volatile: "It is late." };
  const answer: AssistantMessage = {
    role: "assistant",
    content: [{ type: "text", text: "Yes?" }],
    api: "anthropic-messages",
    provider: "anthropic",
    model: SONNET.id,
    stopReason: "end_turn",
    timestamp: 0,
  };

  it("sets breakpoints after the stable prompt, the last tool and the last two user turns", async () => {
    const body = await bodyOf({
      context: { system, tools: TOOLS, messages: [hello, answer, hello, answer, hello] },
    });
    const control = { type: "ephemeral" };
    expect(body.system).toEqual([
      { type: "text", text: "Be brief.", cache_control: control },
      { type: "text", text: "It is late." },
    ]);
    expect(body.tools?.map((tool) => tool.cache_control)).toEqual([undefined, control]);
    expect(body.messages.map((message) => message.content.at(-1)?.cache_control)).toEqual([
      undefined,
      undefined,
      control,
      undefined,
      control,
    ]);
  });

  it("requests an hour, or no caching", async () => {
    const long = await bodyOf({ context: { system }, options: { cache: "long" } });
    expect(long.system?.[0]?.cache_control).toEqual({ type: "ephemeral", ttl: "1h" });
    const none = await bodyOf({ context: { system, tools: TOOLS }, options: { cache: "none" } });
    expect(JSON.stringify(none)).not.toContain("cache_control");
  });

  it("sends identical bytes for the earlier part of a conversation", async () => {
    const fakeServer = await startAnthropic({ script: () => ({ text: "Yes?" }) });
    const stream = anthropicMessages.connect({ apiKey: "k", baseUrl: fakeServer.url });
    const messages: Message[] = [hello];
    for (let turn = 0; turn < 3; turn++) {
      const read = await readTurn(stream(SONNET, { system, tools: TOOLS, messages }, { cache: "none" }));
      messages.push(read.message, hello);
    }
    await fakeServer.stop();
    const [first = "", second = "", third = ""] = fakeServer.requests.map((request) =>
      request.text.replace(/\]\}$/, ""),
    );
    expect(second.startsWith(first)).toBe(true);
    expect(third.startsWith(second)).toBe(true);
  });
});

describe("thinking", () => {
  it.each<[string, StreamOptions["thinking"], Partial<Body>]>([
    [
      "claude-haiku-4-5",
      "low",
      { max_tokens: 8_192 + 4_096, thinking: { type: "enabled", budget_tokens: 4_096 } },
    ],
    ["claude-haiku-4-5", "off", { max_tokens: 8_192 }],
    [
      "claude-sonnet-4-6",
      "high",
      { max_tokens: 8_192 + 24_576, thinking: { type: "adaptive" }, output_config: { effort: "high" } },
    ],
    ["claude-sonnet-4-6", "minimal", {}],
    ["claude-opus-5", "off", { thinking: { type: "disabled" } }],
    ["claude-sonnet-5-5", "off", { thinking: { type: "between_tools" } }],
    [
      "claude-opus-5-5",
      "off",
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } },
    ],
    [
      "claude-opus-5-5",
      "max",
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "max" } },
    ],
  ])("%s at %s", async (id, thinking, expected) => {
    const body = await bodyOf({ model: claude(id), options: thinking === undefined ? {} : { thinking } });
    expect(body).toMatchObject(expected);
    if (expected.thinking === undefined) expect(body.thinking).toBeUndefined();
  });

  it("leaves room for the answer within the caller's limit, or turns thinking off", async () => {
    const model = claude("claude-haiku-4-5");
    const some = await bodyOf({ model, options: { thinking: "high", maxOutputTokens: 4_000 } });
    expect(some).toMatchObject({ max_tokens: 4_000, thinking: { budget_tokens: 4_000 - 1_024 } });
    const { turn, bodies } = await ask({ model, options: { thinking: "high", maxOutputTokens: 500 } });
    expect(bodies[0]?.thinking).toBeUndefined();
    expect(warnings(turn)).toEqual(["thinking_dropped"]);
  });

  it("warns of options that it drops", async () => {
    const required = await ask({
      model: claude("claude-opus-5-5"),
      context: { tools: TOOLS },
      options: { toolChoice: "required", temperature: 0.2 },
    });
    expect(required.bodies[0]?.tool_choice).toBeUndefined();
    expect(required.bodies[0]?.temperature).toBeUndefined();
    expect(warnings(required.turn)).toEqual([
      "thinking_clamped",
      "tool_choice_dropped",
      "temperature_dropped",
    ]);
  });

  it("sends the history without thinking if the vendor refuses it", async () => {
    const thought: AssistantMessage = {
      role: "assistant",
      content: [
        {
          type: "thinking",
          text: "altered",
          native: {
            api: "anthropic-messages",
            provider: "anthropic",
            model: SONNET.id,
            data: { signature: "bad" },
          },
        },
        { type: "text", text: "Yes?" },
      ],
      api: "anthropic-messages",
      provider: "anthropic",
      model: SONNET.id,
      stopReason: "end_turn",
      timestamp: 0,
    };
    const { turn, bodies } = await ask({ context: { messages: [hello, thought, hello] } });
    expect(turn.error).toBeUndefined();
    expect(warnings(turn)).toEqual(["history_thinking"]);
    expect(bodies.map((body) => body.messages[1]?.content.length)).toEqual([2, 1]);
  });
});

describe("failures", () => {
  it("recognizes an overflow by the vendor's words", async () => {
    const { turn } = await ask(
      { context: { messages: [{ ...hello, content: "x".repeat(5_000) }] } },
      { contextWindow: 1_000 },
    );
    expect(turn.error).toMatchObject({ code: "overflow", scope: "model", retryable: false });
    expect(turn.message.stopReason).toBe("context_overflow");
  });

  it("fails without a key", async () => {
    const nobody = await readTurn(
      anthropicMessages.connect({})(SONNET, { system: { stable: "" }, messages: [hello], tools: [] }),
    );
    expect(nobody.error).toMatchObject({ code: "auth", scope: "key" });
  });

  it("computes the cost with cache in whole micro-dollars", async () => {
    const usage = { input: 1_000, output: 200, cacheRead: 50_000, cacheWrite: 3_000 };
    const { turn } = await ask({ script: [{ text: "Hi.", usage }] });
    expect(turn.message.usage).toEqual({
      input: { total: 54_000, uncached: 1_000, cacheRead: 50_000, cacheWrite: 3_000 },
      output: { total: 200, reasoning: undefined },
      source: "reported",
      costMicros: 1_000 * 3 + 50_000 * 0.3 + 3_000 * 3.75 + 200 * 15,
    });
  });

  it("sends malformed arguments back in the form that the vendor documents", async () => {
    const broken: AssistantMessage = {
      role: "assistant",
      content: [
        {
          type: "toolCall",
          id: "toolu_1",
          name: "read",
          args: undefined,
          argsText: "{oops",
          argsError: "no",
        },
      ],
      api: "anthropic-messages",
      provider: "anthropic",
      model: SONNET.id,
      stopReason: "tool_use",
      timestamp: 0,
    };
    const body = await bodyOf({ context: { messages: [hello, broken] } });
    expect(body.messages[1]?.content).toEqual([
      { type: "tool_use", id: "toolu_1", name: "read", input: { INVALID_JSON: "{oops" } },
    ]);
    expect(body.messages[2]?.content[0]).toMatchObject({
      type: "tool_result",
      tool_use_id: "toolu_1",
      is_error: true,
    });
    expect(body.tools?.map((tool) => tool.name)).toEqual(["read"]);
    expect(body.tool_choice).toEqual({ type: "none" });
  });
});
