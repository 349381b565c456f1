// Deviations of servers that no vendor documents, each in its smallest form.
import type { AssistantMessage, Block, JsonObject, Message, ToolSpec } from "@signalbox/agent-core";
import { describe, expect, test } from "vitest";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { googleGenerative } from "../src/google/index.ts";
import { openaiChat } from "../src/openai-chat/index.ts";
import type { Provider } from "../src/provider/provider.ts";
import { findCutProblem, summarizeAnswer } from "../src/testkit/cut.ts";
import { type ReadTurn, readTurn, type WireAnswer, wire } from "../src/testkit/index.ts";
import { testModel } from "./support/fixtures.ts";
import { oddServer, oddStreams } from "./support/odd-streams.ts";
import { asker } from "./support/replay.ts";

const user = (content: Message["content"]): Message => ({ role: "user", content, timestamp: 0 }) as Message;
const tool = (name: string): ToolSpec => ({
  name,
  description: "A tool.",
  inputSchema: { type: "object", properties: {} },
});

/** Reads the turn of a server that sends this body. */
function read(
  body: string | readonly Uint8Array[],
  { provider = openaiChat, type = "text/event-stream", tools = [] as readonly ToolSpec[] } = {},
): Promise<ReadTurn> {
  const answer: WireAnswer = {
    headers: { "content-type": type },
    pieces: typeof body === "string" ? [Buffer.from(body)] : body,
  };
  const stream = (provider as Provider).connect({ baseUrl: "https://host.test", fetch: wire(answer).fetch });
  const model = testModel(provider.api, "m");
  return readTurn(stream(model, { system: { stable: "" }, messages: [user("Hi.")], tools }));
}

const sse = (...events: readonly (object | string)[]): string =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");
const chunk = (delta: unknown, finish: string | null = null): object => ({
  id: "c1",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const usage = { choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } };
const done = [usage, "[DONE]"];

const shown = ({ content }: AssistantMessage): unknown[] =>
  content.map((block) => {
    if (block.type === "toolCall") return [block.name, block.args ?? block.argsError];
    return "text" in block ? [block.type, block.text] : [block.type];
  });
const blocks = async (...events: readonly (object | string)[]): Promise<unknown[]> =>
  shown((await read(sse(...events, ...done))).message);

describe.each(oddStreams)("a stream with $src", ({ res }) => {
  test("that is cut never counts as complete with less, and asks for no other calls", async () => {
    const bytes = Buffer.from(res);
    const ask = asker(oddServer);
    const whole = summarizeAnswer(await ask({ pieces: [bytes] }));
    expect(whole.failed).toBe(false);
    for (let at = 0; at < bytes.length; at += 5) {
      const cut = await ask({ pieces: [bytes.subarray(0, at)], ending: at % 2 === 0 ? "end" : "break" });
      expect([at, findCutProblem(cut, whole)]).toEqual([at, undefined]);
    }
  });
});

describe("reasoning", () => {
  test.each([
    ["<THINK>\nSo.</THINK>\n4"],
    ["◁think▷So.◁/think▷4"],
    ["<|START_THINKING|>So.<|END_THINKING|><|START_RESPONSE|>4<|END_RESPONSE|>"],
    ["<|begin_of_thought|>So.<|end_of_thought|>\n\n<|begin_of_solution|>4<|end_of_solution|>"],
    ["<reasoning>So.</reasoning>4"],
    [
      "<|start|>assistant<|channel|>analysis<|message|>So.<|end|><|start|>assistant<|channel|>final<|message|>4<|return|>",
    ],
    ["So.\n◁/think▷\n4"],
    ["The user wants it.\n</thinking>4"],
  ])("in the tags of %s is not part of the answer, however it is cut", async (text) => {
    for (const pieces of [[text], [...text]]) {
      const content = await blocks(...pieces.map((content) => chunk({ content })), chunk({}, "stop"));
      expect(content).toHaveLength(2);
      expect(content[0]).toMatchObject([
        "thinking",
        expect.stringMatching(/^(?:So\.|The user wants it\.)\n?$/),
      ]);
      expect(content[1]).toEqual(["text", "4"]);
    }
  });

  test("is shown to nobody in a first answer that begins like reasoning", async () => {
    const text = "Okay, the user wants a number.\n</think>\n\nFour.";
    const { events } = await read(
      sse(...[...text].map((content) => chunk({ content })), chunk({}, "stop"), ...done),
    );
    const said = events.flatMap((event) => (event.type === "text.delta" ? event.delta : []));
    expect(said.join("")).toBe("Four.");
  });

  test("is text after all in an answer that only begins like reasoning", async () => {
    const text = "Okay, here is `</think>`, the tag.";
    const content = await blocks(...[...text].map((content) => chunk({ content })), chunk({}, "stop"));
    expect(
      content
        .flat()
        .filter((part) => part !== "text")
        .join(""),
    ).toBe(text);
    expect(await blocks(chunk({ content: "Let me look." }, "stop"))).toEqual([["text", "Let me look."]]);
  });

  test("that turns out to be text is searched for calls", async () => {
    const content = 'Let me look.\n<tool_call>{"name":"ls","arguments":{}}</tool_call>';
    const { message } = await read(sse(chunk({ content }, "stop"), ...done), { tools: [tool("ls")] });
    expect(shown(message)).toEqual([
      ["thinking", content],
      ["ls", {}],
    ]);
  });

  test.each([
    [{ thinking: "So." }],
    [{ reasoning_text: "So." }],
    [{ reasoning: "So.", reasoning_content: "So." }],
    [{ content: [{ type: "thinking", thinking: "So." }] }],
    [{ content: [{ type: "reasoning", reasoning: "So." }] }],
    [{ content: [{ type: "thinking", thinking: [{ type: "text", text: "So." }] }] }],
  ])("in %j is thinking", async (delta) => {
    expect(await blocks(chunk(delta), chunk({ content: "4" }, "stop"))).toEqual([
      ["thinking", "So."],
      ["text", "4"],
    ]);
  });

  test("counts once if the whole message repeats it", async () => {
    const message = { role: "assistant", reasoning_content: "So.", content: "4" };
    const whole = { object: "chat.completion", choices: [{ index: 0, finish_reason: "stop", message }] };
    expect(await blocks(chunk({ reasoning_content: "So." }), whole)).toEqual([
      ["thinking", "So."],
      ["text", "4"],
    ]);
  });

  test("in tags in the text of an Anthropic-compatible server is thinking", async () => {
    const events = (...texts: string[]): string =>
      sse(
        { type: "message_start", message: { id: "1", usage: { input_tokens: 3 } } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        ...texts.map((text) => ({
          type: "content_block_delta",
          index: 0,
          delta: { type: "text_delta", text },
        })),
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 4 } },
        { type: "message_stop" },
      );
    for (const text of ["<think>So.</think>\n4", "So.</think>4"]) {
      const { message } = await read(events(...text), { provider: anthropicMessages });
      expect(shown(message)).toEqual([
        ["thinking", "So."],
        ["text", "4"],
      ]);
    }
  });
});

describe("text", () => {
  test.each([
    [[chunk({ content: ["Hel", { type: "text", text: "lo." }] }, "stop")]],
    [[chunk({ content: { type: "text", text: "Hello." } }, "stop")]],
    [[{ choices: [{ index: 0, delta: "Hello.", finish_reason: "stop" }] }]],
  ])("is read from %j", async (events) => {
    expect(await blocks(...events)).toEqual([["text", "Hello."]]);
  });

  test("counts once if the last delta repeats all of it", async () => {
    const text = "The answer is four, as you know.";
    const pieces = [text.slice(0, 12), text.slice(12)].map((content) => chunk({ content }));
    expect(await blocks(...pieces, chunk({ content: text }, "stop"))).toEqual([["text", text]]);
    expect(await blocks(chunk({ content: "ha" }), chunk({ content: "ha" }, "stop"))).toEqual([
      ["text", "haha"],
    ]);
  });
});

describe("calls", () => {
  const call = (piece: object): object => chunk({ tool_calls: [piece] });

  test.each([
    [
      "name and arguments in the call itself",
      [call({ index: 0, id: "a", name: "ls", arguments: '{"p":1}' })],
    ],
    ["`parameters`", [call({ index: 0, id: "a", function: { name: "ls", parameters: { p: 1 } } })]],
    [
      "an object instead of a list",
      [chunk({ tool_calls: { id: "a", function: { name: "ls", arguments: { p: 1 } } } })],
    ],
    [
      "an empty object before the arguments",
      [
        call({ index: 0, id: "a", function: { name: "ls", arguments: "{}" } }),
        call({ index: 0, function: { arguments: '{"p"' } }),
        call({ index: 0, function: { arguments: ":1}" } }),
      ],
    ],
  ])("are read from %s", async (_, events) => {
    expect(await blocks(...events, chunk({}, "tool_calls"))).toEqual([["ls", { p: 1 }]]);
  });

  test("of several tools without arguments that are all numbered 0 stay apart", async () => {
    const events = ["ls", "now"].map((name) => call({ index: 0, function: { name, arguments: "" } }));
    expect(await blocks(...events, chunk({}, "tool_calls"))).toEqual([
      ["ls", {}],
      ["now", {}],
    ]);
  });
});

describe("the end", () => {
  test.each([
    ["null", "end_turn"],
    ["None", "end_turn"],
    ["content-filter", "filter"],
    ["Max Tokens", "max_tokens"],
    ["max_new_tokens", "max_tokens"],
  ])("with the reason %j is %s", async (reason, stopReason) => {
    const { message } = await read(sse(chunk({ content: "4" }, reason), ...done));
    expect(message.stopReason).toBe(stopReason);
  });

  test("because of a failure of the server is no answer", async () => {
    const { error } = await read(sse(chunk({ content: "4" }, "network_error"), ...done));
    expect(error).toMatchObject({ code: "overloaded", retryable: true });
  });

  test("is missing if each piece has the reason `null` as text and the stream is cut", async () => {
    expect((await read(sse(chunk({ content: "4" }, "null")))).error?.code).toBe("network");
  });
});

describe("usage", () => {
  const counted = async (given: object) =>
    (await read(sse(chunk({ content: "4" }, "stop"), { choices: [], usage: given }, "[DONE]"))).message.usage;

  test("includes reasoning that only the total counts", async () => {
    const usage = await counted({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 115 });
    expect(usage?.output).toEqual({ total: 105, reasoning: 100 });
  });

  test("does not take cached tokens outside of the prompt for reasoning", async () => {
    const given = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 115 };
    const usage = await counted({ ...given, prompt_tokens_details: { cached_tokens: 100 } });
    expect(usage?.output.total).toBe(5);
  });

  test("is read under other names, and estimated if the server counts nothing", async () => {
    expect((await counted({ input_tokens: 10, output_tokens: 5 }))?.output.total).toBe(5);
    expect(await counted({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })).toMatchObject({
      source: "estimated",
    });
  });
});

describe("a body", () => {
  const answer = JSON.stringify({
    choices: [{ index: 0, message: { role: "assistant", content: "4" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 9, completion_tokens: 1 },
  });
  const events = sse(chunk({ content: "4" }, "stop"), ...done);

  test.each([
    [
      "of events with comments, CRLF and a byte order mark",
      `\ufeff: hi\n\n${events.replaceAll("\n", "\r\n")}`,
    ],
    ["of events with CR line breaks", events.replaceAll("\n", "\r")],
    ["of events with keep-alives as data", `data:\n\ndata: ping\n\n${events}`],
    ["of events whose prefix is repeated", events.replaceAll("data: ", "data: data: ")],
    ["of JSON that is said to be a stream", answer],
    ["of JSON over several lines", JSON.stringify(JSON.parse(answer), null, 2)],
    ["of JSON in a list", `[${answer}]`],
  ])("%s is read", async (_, body) => {
    const { message, error } = await read(body);
    expect(error).toBeUndefined();
    expect(shown(message)).toEqual([["text", "4"]]);
  });

  test.each([
    ["of JSON of another type", answer, "application/vnd.api+json; charset=utf-8"],
    ["of JSON without a type", answer, ""],
    ["of events that are said to be JSON", events, "application/json"],
  ])("%s is read", async (_, body, type) => {
    expect(shown((await read(body, { type })).message)).toEqual([["text", "4"]]);
  });

  test.each([
    ['{"error":{"message":"prompt is too long"}}', "overflow"],
    ['[{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}]', "rate_limit"],
    ['{"code":"1261","msg":"Prompt exceeds max length"}', "overflow"],
    ['{"error_code":336007,"error_msg":"the max input characters is 24000"}', "overflow"],
    ['{"type":"error","message":"context window exceeded"}', "overflow"],
    ['{"detail":"Not Found"}', "protocol"],
    ['{"choices":[]}', "protocol"],
  ])("%s with status 200 is a failure with its words", async (body, code) => {
    const message = /"(?:message|msg|error_msg|detail)":"([^"]*)"/.exec(body)?.[1] ?? "no answer";
    for (const [text, type] of [
      [body, "application/json"],
      [body, "text/event-stream"],
    ] as const) {
      const { error } = await read(text, { type });
      expect(error?.code).toBe(code);
      expect(error?.message).toContain(message);
    }
  });

  test("of an error page that is said to be JSON is reported with its title", async () => {
    const page = "<html><title>502 Bad Gateway</title></html>";
    const { error } = await read(page, { type: "application/json" });
    expect(error?.message).toContain("502 Bad Gateway");
  });

  test("of Gemini in a list is read", async () => {
    const part = (text: string, finishReason?: string) => ({
      candidates: [{ content: { parts: [{ text }] }, finishReason }],
    });
    const body = JSON.stringify([part("Hel"), part("lo.", "STOP")]);
    const { message } = await read(body, { provider: googleGenerative, type: "application/json" });
    expect(shown(message)).toEqual([["text", "Hello."]]);
  });
});

describe("an Anthropic-compatible server", () => {
  const ask = async (body: string, type = "text/event-stream") =>
    read(body, { provider: anthropicMessages, type, tools: [tool("ls")] });
  const start = { type: "message_start", message: { id: "1", usage: { input_tokens: 3, output_tokens: 1 } } };
  const use = { type: "tool_use", id: "toolu_1", name: "ls", input: { p: 1 } };

  test("may answer without a stream", async () => {
    const answer = {
      type: "message",
      id: "1",
      content: [{ type: "text", text: "I look." }, use],
      stop_reason: "tool_use",
      usage: { input_tokens: 3, output_tokens: 4 },
    };
    for (const type of ["application/json", "text/event-stream"]) {
      const { message } = await ask(JSON.stringify(answer), type);
      expect(shown(message)).toEqual([
        ["text", "I look."],
        ["ls", { p: 1 }],
      ]);
      expect(message).toMatchObject({ stopReason: "tool_use", usage: { output: { total: 4 } } });
    }
  });

  test("may leave out the start of a block and the stop reason", async () => {
    const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "4" } };
    const { message, error } = await ask(sse(start, delta, { type: "message_stop" }));
    expect(error).toBeUndefined();
    expect(shown(message)).toEqual([["text", "4"]]);
  });

  test("may give `end_turn` after a call", async () => {
    const { message } = await ask(
      sse(
        start,
        { type: "content_block_start", index: 0, content_block: use },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" } },
        { type: "message_stop" },
      ),
    );
    expect(message.stopReason).toBe("tool_use");
  });
});

describe("a refusal", () => {
  /** A server that refuses as long as `isWrong` holds for the body, and answers "4" otherwise. */
  function refusing(isWrong: (text: string) => boolean, message: string, { status = 400, param = "" } = {}) {
    const bodies: JsonObject[] = [];
    const fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const text = String(init?.body);
      bodies.push(JSON.parse(text));
      const headers = { "content-type": "application/json" };
      const error = { message, type: "invalid_request_error", ...(param !== "" && { param }) };
      const refused = { status, headers, pieces: [Buffer.from(JSON.stringify({ error }))] };
      const accepted = { pieces: [Buffer.from(sse(chunk({ content: '{"n":4}' }, "stop"), ...done))] };
      return wire(isWrong(text) ? refused : accepted).fetch(input, init);
    };
    const stream = openaiChat.connect({ baseUrl: "https://host.test/v1", fetch });
    const model = { ...testModel("openai-chat", "m"), input: ["text", "image"] as const };
    const ask = (messages: readonly Message[], tools: readonly ToolSpec[] = [], options: object = {}) =>
      readTurn(stream(model, { system: { stable: "" }, messages, tools }, options));
    return { bodies, ask };
  }
  const picture: Block = { type: "image", mimeType: "image/png", source: { kind: "base64", data: "AAAA" } };
  const withPictures = (count: number): Message =>
    user([
      { type: "text", text: "See." },
      ...Array.from({ length: count }, () => picture),
    ] as Message["content"]);
  const pictures = (text: string): number => text.split('"image_url":{').length - 1;

  test.each([
    "This model does not support image input.",
    "No endpoints found that support image input",
    "Invalid content type. image_url is only supported by certain models.",
    "m is not a multimodal model",
  ])("of images leaves them out from then on: %s", async (message) => {
    const { bodies, ask } = refusing((text) => pictures(text) > 0, message);
    for (let turns = 0; turns < 2; turns++) {
      const turn = await ask([withPictures(2)]);
      expect(turn.error).toBeUndefined();
    }
    expect(bodies).toHaveLength(3);
    expect(JSON.stringify(bodies[1])).toContain("cannot see images");
  });

  test.each([
    "At most 2 image(s) may be provided in one request.",
    "Too many images in request: the maximum is 2 images",
    "Number of images exceeds the limit of 2",
  ])("of so many images keeps the last ones: %s", async (message) => {
    const { bodies, ask } = refusing((text) => pictures(text) > 2, message);
    for (let turns = 0; turns < 2; turns++) expect((await ask([withPictures(5)])).error).toBeUndefined();
    expect(bodies.map((body) => pictures(JSON.stringify(body)))).toEqual([5, 2, 2]);
  });

  test("of one picture does not turn the others away", async () => {
    const { ask } = refusing((text) => pictures(text) > 0, "unsupported image format: image/bmp");
    expect((await ask([withPictures(1)])).error?.code).toBe("invalid");
  });

  test("of so many tools leaves out the last ones", async () => {
    const message =
      "Invalid 'tools': array too long. Expected an array with maximum length 2, but got an array with length 4 instead.";
    const { bodies, ask } = refusing((text) => text.split('"function":{').length > 3, message, {
      param: "tools",
    });
    const tools = ["a", "b", "c", "d"].map(tool);
    for (let turns = 0; turns < 2; turns++) {
      const turn = await ask([user("Hi.")], tools);
      expect(turn.error).toBeUndefined();
      expect(turn.events[0]).toMatchObject({
        warnings: [{ code: "tool_dropped", message: expect.stringContaining("c, d") }],
      });
    }
    expect(bodies).toHaveLength(3);
  });

  test.each([
    "System role not supported",
    "Conversation roles must alternate user/assistant/user/assistant/...",
    "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
  ])("of the system role merges it into the first message: %s", async (message) => {
    const roles = (text: string): string[] =>
      (JSON.parse(text) as { messages: { role: string }[] }).messages.map(({ role }) => role);
    const isWrong = (text: string): boolean =>
      roles(text).some((role, at, all) => role === "system" || role === all[at - 1]);
    const { bodies, ask } = refusing(isWrong, message);
    for (let turns = 0; turns < 2; turns++) {
      const turn = await ask([user("One."), user([{ type: "text", text: "Two." }])], [], { json: {} });
      expect(turn.error).toBeUndefined();
    }
    expect(bodies).toHaveLength(3);
    expect(JSON.stringify(bodies[1]?.messages)).toMatch(/JSON.*One\..*Two\./s);
  });

  test("to stream is followed by a request for the whole answer", async () => {
    const message = "Your organization must be verified to stream this model.";
    const { bodies, ask } = refusing((text) => text.includes('"stream":true'), message, { param: "stream" });
    expect((await ask([user("Hi.")])).error).toBeUndefined();
    expect(bodies[1]).toMatchObject({ stream: false });
    expect(bodies[1]).not.toHaveProperty("stream_options");
  });

  test("of JSON as an option is followed by a prompt that asks for it, and prose fails", async () => {
    for (const message of [
      "'response_format' of type json_object is not supported",
      "json mode cannot be combined with tool/function calling",
    ]) {
      const { bodies, ask } = refusing((text) => text.includes("response_format"), message);
      const turn = await ask([user("Hi.")], [], { json: {} });
      expect(turn.error).toBeUndefined();
      expect(JSON.stringify(bodies.at(-1))).toContain("Answer with one JSON object");
    }
  });

  test.each([
    "expected `reasoning_content` in the assistant message at index 1",
    "messages[1]: reasoning_content should be provided when thinking is enabled",
    "assistant message lacks reasoning_content",
    "缺少 reasoning_content 字段",
  ])("that wants reasoning back is learned from: %s", async (message) => {
    const { ask, bodies } = refusing((text) => !text.includes('"reasoning_content"'), message);
    const turn = await ask([
      user("Look."),
      {
        role: "assistant",
        content: [{ type: "toolCall", id: "call_1", name: "ls", args: {}, argsText: "{}" }],
        api: "openai-chat",
        provider: "other",
        model: "other",
        stopReason: "tool_use",
        timestamp: 0,
      },
      { role: "toolResult", toolCallId: "call_1", toolName: "ls", content: [], isError: false, timestamp: 0 },
    ]);
    expect(turn.error).toBeUndefined();
    expect(bodies).toHaveLength(2);
  });

  test("of a value of `reasoning_effort` is not taken for missing reasoning", async () => {
    const message = "`reasoning_effort` must be one of 'low', 'medium', 'high'";
    const { ask } = refusing(() => true, message);
    expect((await ask([user("Hi.")])).error?.code).toBe("invalid");
  });

  test.each([
    "Your conversation has more tokens than we can take",
    "Too much text: shorten it to fit the context",
    "总长度超限",
  ])("of the longest conversation so far in unknown words is an overflow: %s", async (message) => {
    const { ask } = refusing((text) => text.length > 9_000, message);
    expect((await ask([user("Hi.")])).error).toBeUndefined();
    expect((await ask([user("word ".repeat(2_000))])).error?.code).toBe("overflow");
    const restarted = refusing(() => true, message);
    const turns = [user("Hi."), user("word ".repeat(2_000)), user("Go on.")];
    expect((await restarted.ask(turns)).error?.code).toBe("overflow");
    const fresh = refusing(() => true, "The token is malformed");
    expect((await fresh.ask([user("Hi.")])).error?.code).toBe("invalid");
  });

  test("as an error page, or in a list, keeps its status and its words", async () => {
    for (const [body, code] of [
      ["<html><title>403 Forbidden</title></html>", "auth"],
      [
        '[{"error":{"code":400,"message":"The input token count exceeds the maximum","status":"INVALID_ARGUMENT"}}]',
        "overflow",
      ],
    ] as const) {
      const status = code === "auth" ? 403 : 400;
      const fetch = wire({ status, pieces: [Buffer.from(body)] }).fetch;
      const stream = openaiChat.connect({ baseUrl: "https://host.test/v1", fetch });
      const { error } = await readTurn(
        stream(testModel("openai-chat", "m"), { system: { stable: "" }, messages: [user("Hi.")], tools: [] }),
      );
      expect(error).toMatchObject({ code, message: expect.not.stringContaining("<") });
    }
  });
});
