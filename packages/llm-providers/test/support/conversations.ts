import type {
  AssistantMessage,
  Block,
  InputBlock,
  JsonObject,
  Message,
  Model,
  ModelContext,
  StreamOptions,
  ThinkingLevel,
  ToolResultMessage,
  ToolSpec,
} from "@signalbox/agent-core";

/** A request that a host may send. */
export interface Conversation {
  readonly name: string;
  readonly context: ModelContext;
  readonly options: StreamOptions;
}

/** A transparent pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PDF = Buffer.from("%PDF-1.4\n%%EOF\n").toString("base64");
const WAV = Buffer.from("RIFF$\0\0\0WAVEfmt ").toString("base64");

const read: ToolSpec = {
  name: "read_file",
  description: "Reads a file.",
  inputSchema: {
    type: "object",
    properties: { path: { type: "string" }, lines: { type: "integer", minimum: 1 } },
    required: ["path"],
    additionalProperties: false,
  },
};

export const tools: readonly ToolSpec[] = [
  read,
  { name: "now", description: "The time.", inputSchema: { type: "object", properties: {} } },
];

export function user(content: string | readonly InputBlock[]): Message {
  return { role: "user", content, timestamp: 0 };
}

export function result(
  toolCallId: string,
  toolName: string,
  content: readonly InputBlock[],
  isError = false,
): ToolResultMessage {
  return { role: "toolResult", toolCallId, toolName, content, isError, timestamp: 0 };
}

/** An assistant message of `model`. */
export function said(
  model: Pick<Model, "api" | "provider" | "id">,
  content: readonly Block[],
): AssistantMessage {
  const calls = content.some((block) => block.type === "toolCall");
  const { api, provider, id } = model;
  return {
    role: "assistant",
    content,
    api,
    provider,
    model: id,
    stopReason: calls ? "tool_use" : "end_turn",
    timestamp: 0,
  };
}

export function call(id: string, name: string, args: Readonly<Record<string, string | number>>): Block {
  return { type: "toolCall", id, name, args, argsText: JSON.stringify(args) };
}

const text = (words: string): InputBlock => ({ type: "text", text: words });

/** Turns of other vendors, with data that must not be sent to anyone else. */
function foreign(): Message[] {
  const makers = [
    { api: "anthropic-messages", provider: "anthropic", id: "claude-sonnet-4-6" },
    { api: "openai-responses", provider: "openai", id: "gpt-5-mini" },
    { api: "openai-chat", provider: "deepseek", id: "deepseek-v4" },
    { api: "mistral-chat", provider: "mistral", id: "magistral-medium" },
    { api: "google-generative", provider: "google", id: "gemini-3.5-flash" },
  ];
  return makers.flatMap((maker, i): Message[] => {
    const native = {
      api: maker.api,
      provider: maker.provider,
      model: maker.id,
      data: { id: `rs_${i}`, secret: "signature" },
    };
    const id = `toolu_${"x".repeat(60)}${i}`;
    return [
      user(`Question ${i}`),
      said(maker, [
        { type: "thinking", text: "Hmm.", native },
        { type: "thinking", text: "", redacted: true, native },
        { type: "text", text: "Let me look.", native },
        { type: "citation", text: "cited", url: "https://example.org", native },
        { type: "opaque", native },
        { ...call(id, "read_file", { path: `${i}.txt` }), native },
      ]),
      result(id, "read_file", [text("contents")]),
      said(maker, [
        { type: "refusal", text: "I would rather not." },
        { type: "text", text: "Done." },
      ]),
    ];
  });
}

function long(model: Model): Message[] {
  return Array.from({ length: 60 }, (_, i): Message[] => [
    user(`Question ${i}`),
    said(model, [call(`call${String(i).padStart(5, "0")}`, "now", {})]),
    result(`call${String(i).padStart(5, "0")}`, "now", [text(`${i} o'clock`)]),
    said(model, [{ type: "text", text: `It is ${i} o'clock.` }]),
  ]).flat();
}

/** Names of tools that models invent or hosts choose. */
export const ODD_NAMES: readonly string[] = [
  "multi_tool_use.parallel",
  "",
  "x".repeat(300),
  "fs.read",
  "1st",
  "名字",
  "a b\u0000\n",
  "fs_read_x_0123456789ab",
  "constructor",
];

const oddTools: readonly ToolSpec[] = [
  ...tools,
  ...["fs.read", "fs_read", "mcp:server/long".repeat(20)].map((name) => ({ ...read, name })),
];

function oddlyNamed(model: Model): Message[] {
  return [
    user("Do what you can."),
    said(
      model,
      ODD_NAMES.map((name, i) => call(`aaaaaaaa${i}`, name, { path: "a.txt" })),
    ),
    ...ODD_NAMES.map((name, i) => result(`aaaaaaaa${i}`, name, [text("No such tool.")], true)),
  ];
}

const LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "max"];

const GREETING: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    words: { type: "array", items: { type: "string", minLength: 1 } },
    to: { type: "object", properties: { name: { type: "string" } } },
  },
  required: ["words"],
};

/** Requests of every kind for `model`. */
export function conversations(model: Model): Conversation[] {
  const system = { stable: "You are a careful assistant.", volatile: "Today is Saturday." };
  const make = (
    name: string,
    messages: readonly Message[],
    options: StreamOptions = {},
    withTools = true,
  ): Conversation => ({
    name,
    context: { system, messages, tools: withTools ? tools : [] },
    options,
  });
  const parallel: Message[] = [
    user("Read both."),
    said(model, [
      { type: "text", text: "Reading." },
      call("aaaaaaaa1", "read_file", { path: "a.txt", lines: 3 }),
      call("aaaaaaaa2", "read_file", { path: "b.txt" }),
      call("aaaaaaaa3", "now", {}),
    ]),
    result("aaaaaaaa1", "read_file", [text("A")]),
    result("aaaaaaaa2", "read_file", [text("no such file")], true),
    result("aaaaaaaa3", "now", []),
  ];
  const image: InputBlock = { type: "image", mimeType: "image/png", source: { kind: "base64", data: PIXEL } };
  return [
    { name: "bare", context: { system: { stable: "" }, messages: [user("Hello.")], tools: [] }, options: {} },
    make(
      "system",
      [user("你好 🎉")],
      { temperature: 0.3, stopSequences: ["END"], maxOutputTokens: 100 },
      false,
    ),
    make("sampled narrowly, and the same again", [user("Hello.")], { topP: 0.9, seed: 7 }),
    make("sampled in both ways", [user("Hello.")], { temperature: 0.3, topP: 0.9 }),
    make("an answer in JSON", [user("Hello in JSON.")], { json: {} }, false),
    make("an answer of a schema", [user("Hello.")], { json: { name: "greeting", schema: GREETING } }, false),
    make("an answer of a schema, after tools", parallel, { json: { schema: GREETING, strict: true } }),
    make("no output to speak of", [user("Hello.")], { maxOutputTokens: 1 }, false),
    make("parallel calls", parallel),
    make("a person speaks right after results", [...parallel, user("Never mind B.")]),
    make("steering between two turns", [
      user("One."),
      user("Two."),
      said(model, [{ type: "text", text: "Yes?" }]),
      user("Three."),
    ]),
    make("a call that was no JSON", [
      user("Read it."),
      said(model, [
        {
          type: "toolCall",
          id: "aaaaaaaa1",
          name: "read_file",
          args: undefined,
          argsText: '{"path": ',
          argsError: "no JSON",
        },
      ]),
      result("aaaaaaaa1", "read_file", [text("The arguments are no JSON object.")], true),
    ]),
    make("calls nobody answered", [
      user("Read it."),
      said(model, [call("aaaaaaaa1", "now", {})]),
      user("Well?"),
    ]),
    make("media in", [
      user([
        text("Look."),
        image,
        { type: "image", mimeType: "image/jpeg", source: { kind: "url", url: "https://example.org/a.jpg" } },
        { type: "file", mimeType: "application/pdf", name: "a.pdf", source: { kind: "base64", data: PDF } },
        {
          type: "file",
          mimeType: "application/pdf",
          source: { kind: "url", url: "https://example.org/a.pdf" },
        },
        { type: "audio", mimeType: "audio/wav", source: { kind: "base64", data: WAV } },
      ]),
    ]),
    make("images from tools", [
      user("Show me."),
      said(model, [call("aaaaaaaa1", "read_file", { path: "a.png" }), call("aaaaaaaa2", "now", {})]),
      result("aaaaaaaa1", "read_file", [text("An image:"), image]),
      result("aaaaaaaa2", "now", [image]),
    ]),
    ...LEVELS.map((thinking) => make(`thinking ${thinking}`, parallel, { thinking })),
    make("cached", [user("Hello.")], { cache: "long", sessionId: "s".repeat(100) }),
    make("not cached", [user("Hello.")], { cache: "none", sessionId: "session" }),
    make("a long history", [...long(model), user("And now?")]),
    make("handed over from every vendor", [...foreign(), user("Go on.")]),
    make("handed over in the middle of a tool turn", foreign().slice(0, 3)),
    make("names that no vendor takes", oddlyNamed(model)),
    {
      name: "a tool whose name only some vendors take must be used",
      context: { system, messages: [user("Read it."), ...oddlyNamed(model)], tools: oddTools },
      options: { toolChoice: { name: "fs.read" } },
    },
    make("a tool must be used", [user("Time?")], { toolChoice: "required" }),
    make("one tool must be used", [user("Time?")], { toolChoice: { name: "now" } }),
    make("no tool may be used", [user("Time?")], { toolChoice: "none" }),
  ];
}
