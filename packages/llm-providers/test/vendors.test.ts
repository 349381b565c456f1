// Streams of OpenAI-compatible servers from public reports and recordings, reduced to their smallest form.
import type { AssistantMessage, JsonObject, ToolSpec } from "@signalbox/agent-core";
import { describe, expect, test } from "vitest";
import { openaiChat } from "../src/openai-chat/index.ts";
import { type ReadTurn, readTurn, type WireAnswer, wire } from "../src/testkit/index.ts";
import { testModel } from "./support/fixtures.ts";

const sse = (...events: readonly (object | string)[]): Uint8Array =>
  Buffer.from(
    events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join(""),
  );
const usage = { choices: [], usage: { prompt_tokens: 9, completion_tokens: 3 } };
const chunk = (delta: object, finish: string | null = null, choice: object = {}): object => ({
  id: "c1",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: finish, ...choice }],
});
const model = testModel("openai-chat", "m");

/** Reads the turn of a server that sends these events. */
function read(...events: readonly (object | string)[]): Promise<ReadTurn> {
  return readWire({ pieces: [sse(...events, usage, "[DONE]")] });
}

const ls = { name: "ls", description: "Lists.", inputSchema: { type: "object", properties: {} } };

function readWire(answer: WireAnswer, tools: readonly ToolSpec[] = []): Promise<ReadTurn> {
  const stream = openaiChat.connect({
    baseUrl: "https://host.test/v1",
    fetch: wire(answer).fetch,
    now: () => 0,
  });
  return readTurn(stream(model, { system: { stable: "" }, messages: [], tools }));
}

const shown = ({ content }: AssistantMessage): unknown[] =>
  content.map((block) => {
    if (block.type === "toolCall") return [block.name, block.args ?? block.argsError];
    return "text" in block ? [block.type, block.text] : [block.type];
  });

async function blocks(...events: readonly (object | string)[]): Promise<unknown[]> {
  return shown((await read(...events)).message);
}

describe("text that a server sends twice", () => {
  test("counts once if it is in `text` and in `delta`", async () => {
    const twice = (text: string): object => chunk({ content: text }, null, { text });
    expect(await blocks(twice("Hi"), twice(" there"), chunk({}, "stop"))).toEqual([["text", "Hi there"]]);
  });

  test("counts once if the stream ends with the whole message", async () => {
    const message = { role: "assistant", content: "Hello." };
    const whole = { object: "chat.completion", choices: [{ index: 0, finish_reason: "stop", message }] };
    expect(await blocks(chunk({ content: "Hel" }), chunk({ content: "lo." }, "stop"), whole)).toEqual([
      ["text", "Hello."],
    ]);
    expect(await blocks(chunk({ content: "Hel" }), whole)).toEqual([["text", "Hello."]]);
    expect(await blocks(whole)).toEqual([["text", "Hello."]]);
  });

  test("leaves calls as they are if the stream ends with the whole message", async () => {
    const call = { id: "c", type: "function", function: { name: "ls", arguments: '{"path":"."}' } };
    const message = { role: "assistant", content: null, tool_calls: [call] };
    const whole = {
      object: "chat.completion",
      choices: [{ index: 0, finish_reason: "tool_calls", message }],
    };
    expect(await blocks(chunk({ tool_calls: [{ index: 0, ...call }] }), whole)).toEqual([
      ["ls", { path: "." }],
    ]);
    expect(await blocks(whole)).toEqual([["ls", { path: "." }]]);
  });

  test("is read in pieces if they come as messages", async () => {
    const piece = (content: string): object => ({ choices: [{ index: 0, message: { content } }] });
    expect(await blocks(piece("Hel"), piece("lo."), chunk({}, "stop"))).toEqual([["text", "Hello."]]);
  });

  test("counts once if each piece of reasoning repeats what came before", async () => {
    const detail = (text: string) => ({ reasoning_details: [{ type: "reasoning.text", index: 0, text }] });
    expect(
      await blocks(chunk(detail("So")), chunk(detail("So four.")), chunk({ content: "4" }, "stop")),
    ).toEqual([
      ["thinking", "So four."],
      ["text", "4"],
    ]);
  });
});

describe("reasoning in the text", () => {
  test("is thinking if only its closing tag comes", async () => {
    const body = sse(
      chunk({ content: "The user wants a number. " }),
      chunk({ content: "So four.\n</think>\n\nFour." }, "stop"),
      usage,
      "[DONE]",
    );
    const stream = openaiChat.connect({
      baseUrl: "https://host.test/v1",
      fetch: (input, init) => wire({ pieces: [body] }).fetch(input, init),
    });
    const ask = () => readTurn(stream(model, { system: { stable: "" }, messages: [], tools: [] }));
    const text = ({ events }: ReadTurn): string =>
      events.map((event) => (event.type === "text.delta" ? event.delta : "")).join("");
    const first = await ask();
    const answer = [
      ["thinking", "The user wants a number. So four.\n"],
      ["text", "Four."],
    ];
    expect(shown(first.message)).toEqual(answer);
    const second = await ask();
    expect(shown(second.message)).toEqual(answer);
    expect([text(first), text(second)]).toEqual(["Four.", "Four."]);
  });

  test("is thinking in front of a tool call", async () => {
    const call = { index: 0, id: "c", function: { name: "ls", arguments: "{}" } };
    const events = [chunk({ content: "I look.\n</think>\n" }), chunk({ tool_calls: [call] }, "tool_calls")];
    expect(await blocks(...events)).toEqual([
      ["thinking", "I look.\n"],
      ["ls", {}],
    ]);
  });

  test("does not keep the white space in front of a reasoning field", async () => {
    const events = [
      chunk({ content: "\n" }),
      chunk({ reasoning_content: "So." }),
      chunk({ content: "4" }, "stop"),
    ];
    expect(await blocks(...events)).toEqual([
      ["thinking", "So."],
      ["text", "4"],
    ]);
  });

  test("is thinking if it comes as a content part", async () => {
    const part = { type: "reasoning", summary: [{ type: "summary_text", text: "So." }] };
    expect(await blocks(chunk({ content: [part, { type: "text", text: "4" }] }, "stop"))).toEqual([
      ["thinking", "So."],
      ["text", "4"],
    ]);
  });
});

describe("parallel calls", () => {
  const piece = (fn: object, rest: object = { index: 0 }): object =>
    chunk({ tool_calls: [{ ...rest, function: fn }] });
  const a = '{"file_path":"a.txt"}';
  const b = '{"file_path":"b.txt"}';
  const both = [
    ["read", { file_path: "a.txt" }],
    ["read", { file_path: "b.txt" }],
  ];

  test.each([
    ["are all numbered 0", piece({ name: "read", arguments: a }), piece({ name: "read", arguments: b })],
    [
      "are all numbered 0 with an empty id",
      piece({ name: "read", arguments: a }, { index: 0, id: "" }),
      piece({ name: "read", arguments: b }, { index: 0, id: "" }),
    ],
    ["have no number", piece({ name: "read", arguments: a }, {}), piece({ name: "read", arguments: b }, {})],
    ["repeat no name", piece({ name: "read", arguments: a }), piece({ arguments: b })],
    [
      "give each name before its arguments",
      piece({ name: "read", arguments: "" }),
      piece({ arguments: a }),
      piece({ name: "read", arguments: "" }),
      piece({ arguments: b.slice(0, 9) }),
      piece({ arguments: b.slice(9) }),
    ],
  ])("that %s stay apart", async (_what, ...pieces) => {
    expect(await blocks(...pieces, chunk({}, "tool_calls"))).toEqual(both);
  });

  test("are one call if its name comes with each piece, or all of it again", async () => {
    const cut = [a.slice(0, 8), a.slice(8)].map((args) => piece({ name: "read", arguments: args }));
    expect(await blocks(...cut, piece({ name: "read", arguments: "" }), chunk({}, "tool_calls"))).toEqual([
      both[0],
    ]);
    const again = piece({ name: "read", arguments: a });
    expect(await blocks(again, again, chunk({}, "tool_calls"))).toEqual([both[0]]);
  });

  test("include the call of the old `function_call` field", async () => {
    const events = [
      chunk({ function_call: { name: "read", arguments: a.slice(0, 5) } }),
      chunk({ function_call: { arguments: a.slice(5) } }, "function_call"),
    ];
    const { message } = await read(...events);
    expect(shown(message)).toEqual([both[0]]);
    expect(message.stopReason).toBe("tool_use");
  });
});

describe("a call in the text", () => {
  const events = [
    chunk({ content: "I look.\n<tool_" }),
    chunk({ content: 'call>\n{"name":"ls","arguments":{"path":"."}}\n</tool_call>' }, "stop"),
    usage,
    "[DONE]",
  ];

  test("is a call if its tool was offered", async () => {
    const { message } = await readWire({ pieces: [sse(...events)] }, [ls]);
    expect(shown(message)).toEqual([
      ["text", "I look.\n"],
      ["ls", { path: "." }],
    ]);
    expect(message.stopReason).toBe("tool_use");
  });

  test("is text if no tools were offered", async () => {
    const { message } = await readWire({ pieces: [sse(...events)] });
    expect(shown(message)).toEqual([["text", expect.stringContaining("<tool_call>")]]);
  });
});

describe("a call in odd pieces", () => {
  const call = (index: unknown, fn: object, id?: string) => ({ index, id, type: "function", function: fn });
  const calls = (...pieces: readonly object[]) => chunk({ tool_calls: pieces });
  const readFile = { ...ls, name: "read_file" };
  const end = chunk({}, "tool_calls");

  test.each([
    [
      "whose name arrives in fragments",
      [
        calls(call(0, { name: "read" }, "a")),
        calls(call(0, { name: "_file" })),
        calls(call(0, { arguments: '{"p":1}' })),
      ],
    ],
    [
      "whose name grows with each piece",
      [
        calls(call(0, { name: "read" }, "a")),
        calls(call(0, { name: "read_file", arguments: '{"p":1}' }, "a")),
      ],
    ],
    [
      "whose every piece has another number",
      [
        calls(call(0, { name: "read_file", arguments: '{"p"' }, "a")),
        calls(call(1, { name: "", arguments: ":1" }, "")),
        calls(call(2, { name: null, arguments: "}" })),
      ],
    ],
  ])("%s is one call", async (_, events) => {
    const { message } = await readWire({ pieces: [sse(...events, end, usage, "[DONE]")] }, [ls, readFile]);
    expect(shown(message)).toEqual([["read_file", { p: 1 }]]);
  });

  test("with its number as text is not mixed up with another one", async () => {
    const events = [
      calls(
        call("0", { name: "read_file", arguments: '{"p":' }, "a"),
        call("1", { name: "ls", arguments: "{" }, "b"),
      ),
      calls(call("1", { arguments: "}" }), call("0", { arguments: "1}" })),
      end,
    ];
    expect(await blocks(...events)).toEqual([
      ["read_file", { p: 1 }],
      ["ls", {}],
    ]);
  });

  test.each(["functions.read_file:0", "default_api.read_file", "default_api:read_file"])(
    "has the tool's own name without the namespace of %s",
    async (name) => {
      const events = [calls(call(0, { name, arguments: '{"p":1}' }, "a")), end];
      const { message } = await readWire({ pieces: [sse(...events, usage, "[DONE]")] }, [ls, readFile]);
      expect(shown(message)).toEqual([["read_file", { p: 1 }]]);
    },
  );

  test("is followed by another one without arguments", async () => {
    const events = [calls(call(0, { name: "ls" }, "a")), calls(call(0, { name: "read_file" }, "b")), end];
    const { message } = await readWire({ pieces: [sse(...events, usage, "[DONE]")] }, [ls, readFile]);
    expect(shown(message)).toEqual([
      ["ls", {}],
      ["read_file", {}],
    ]);
  });
});

describe("the end of an answer", () => {
  test("counts as cut if the model's host says so", async () => {
    const call = { index: 0, id: "c", function: { name: "read", arguments: '{"path":"a' } };
    const cut = chunk({ tool_calls: [call] }, "tool_calls", { native_finish_reason: "max_output_tokens" });
    const { message } = await read(cut);
    expect(message.stopReason).toBe("max_tokens");
    expect(message.content).toMatchObject([{ argsError: expect.stringContaining("ended before") }]);
  });

  test("that Gemini rejected as a malformed call is a failure that can be tried again", async () => {
    const turn = await read(chunk({ role: "assistant" }, "function_call_filter: MALFORMED_FUNCTION_CALL"));
    expect(turn.error).toMatchObject({ code: "protocol", retryable: true });
  });

  test.each([
    ["MAX_TOKENS", "max_tokens"],
    ["SAFETY", "filter"],
    ["eos", "end_turn"],
  ])("with the reason %s is %s", async (reason, stopReason) => {
    expect((await read(chunk({ content: "Hi." }, reason))).message).toMatchObject({
      stopReason,
      rawStopReason: reason,
    });
  });

  test("needs no reason if the server reports usage and says that it is done", async () => {
    expect((await read(chunk({ content: "Answer." }))).message.stopReason).toBe("end_turn");
    expect((await read(chunk({ content: "Answer." }, ""))).message.stopReason).toBe("end_turn");
  });

  test("needs no reason in a whole answer", async () => {
    const body: JsonObject = { choices: [{ index: 0, message: { role: "assistant", content: "Answer." } }] };
    const { message } = await readWire({
      headers: { "content-type": "application/json" },
      pieces: [Buffer.from(JSON.stringify(body))],
    });
    expect(message).toMatchObject({ stopReason: "end_turn", content: [{ text: "Answer." }] });
  });
});

test("output tokens include the reasoning that xAI counts outside of the completion", async () => {
  const counted = {
    prompt_tokens: 429,
    completion_tokens: 44,
    total_tokens: 846,
    completion_tokens_details: { reasoning_tokens: 373 },
  };
  const { message } = await readWire({
    pieces: [sse(chunk({ content: "Hi." }, "stop"), { choices: [], usage: counted }, "[DONE]")],
  });
  expect(message.usage?.output).toEqual({ total: 417, reasoning: 373 });
});

test("`null` as the arguments of a call means none", async () => {
  const call = { index: 0, id: "c", function: { name: "now", arguments: "null" } };
  expect(await blocks(chunk({ tool_calls: [call] }, "tool_calls"))).toEqual([["now", {}]]);
});
