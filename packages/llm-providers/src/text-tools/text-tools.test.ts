import {
  type Message,
  type Model,
  type ModelContext,
  NO_USAGE,
  type StreamModel,
  type StreamOptions,
  type ToolSpec,
} from "@signalbox/agent-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTurn } from "../testkit/index.ts";
import { modelTurn } from "../turn/turn.ts";
import { CallScanner } from "./parse.ts";
import { withTextTools } from "./stream.ts";

const model: Model = {
  id: "m",
  provider: "local",
  api: "openai-chat",
  contextWindow: 8_000,
  maxOutputTokens: 1_000,
  input: ["text", "image"],
  thinking: [],
  tools: "text",
};
const TOOLS: readonly ToolSpec[] = [
  {
    name: "read",
    description: "Reads a file.",
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
];
const go: Message = { role: "user", content: "Go.", timestamp: 0 };

interface Seen {
  context?: ModelContext;
  options?: StreamOptions | undefined;
}

/** A model that responds with this text in these chunks, and the request that it received. */
function saying(
  pieces: readonly string[],
  stop: "end_turn" | "max_tokens" = "end_turn",
): { stream: StreamModel; plain: StreamModel; seen: Seen } {
  const seen: Seen = {};
  const stream: StreamModel = (asked, context, options) => {
    seen.context = context;
    seen.options = options;
    return modelTurn({ model: asked, options }, async function* (turn) {
      turn.start("req_1");
      const index = turn.open({ type: "text" });
      for (const piece of pieces) yield turn.append(index, piece);
      turn.close(index);
      turn.finish(stop, "stop");
      yield;
    });
  };
  return { stream: withTextTools(stream), plain: stream, seen };
}

async function read(pieces: readonly string[], stop?: "max_tokens") {
  const { stream } = saying(pieces, stop);
  return readTurn(stream(model, { system: { stable: "S" }, messages: [go], tools: TOOLS }));
}

const CALL = '<tool_call>\n{"name": "read", "arguments": {"path": "a.txt"}}\n</tool_call>';

describe("tool calls in text", () => {
  it("become calls, and the text before them stays text", async () => {
    const turn = await read([`I'll look.\n${CALL}\n`]);
    expect(turn.message.content).toEqual([
      { type: "text", text: "I'll look.\n" },
      {
        type: "toolCall",
        id: "call_1_1",
        name: "read",
        args: { path: "a.txt" },
        argsText: '{"path":"a.txt"}',
      },
    ]);
    expect(turn.message).toMatchObject({ stopReason: "tool_use", rawStopReason: "stop" });
  });

  it("are found if the text comes only with the last event", async () => {
    const whole: StreamModel = async function* (asked, context, options) {
      const { message } = await readTurn(saying([CALL]).plain(asked, context, options));
      yield { type: "finish", message };
    };
    const { message } = await readTurn(
      withTextTools(whole)(model, { system: { stable: "S" }, messages: [go], tools: TOOLS }),
    );
    expect(message).toMatchObject({ content: [{ type: "toolCall", name: "read" }], stopReason: "tool_use" });
  });

  it("are found in a block that turns out to be text, or whose text turns out to be reasoning", async () => {
    const ends = (text: string, from: "text" | "thinking", to: "text" | "thinking"): StreamModel =>
      withTextTools((asked, _context, options) =>
        modelTurn({ model: asked, options }, async function* (turn) {
          const index = turn.open({ type: from });
          yield turn.append(index, text);
          turn.closeAs(index, to);
          yield turn.finish("end_turn");
        }),
      );
    const ask = async (stream: StreamModel) =>
      (await readTurn(stream(model, { system: { stable: "S" }, messages: [go], tools: TOOLS }))).message;
    expect(await ask(ends(`Let me look.\n${CALL}`, "thinking", "text"))).toMatchObject({
      content: [{ type: "thinking" }, { type: "toolCall", name: "read", args: { path: "a.txt" } }],
      stopReason: "tool_use",
    });
    expect((await ask(ends("Let me see.", "thinking", "text"))).content).toEqual([
      { type: "text", text: "Let me see." },
    ]);
    expect((await ask(ends("So four.", "text", "thinking"))).content).toEqual([
      { type: "thinking", text: "So four." },
    ]);
  });

  it("are found however the text is cut, also several in a row", () => {
    const text = `Look:\n${CALL}\n\n${CALL}`;
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 30 }), (cuts) => {
        const edges = [0, ...cuts.toSorted((a, b) => a - b), text.length];
        let said = "";
        const calls: string[] = [];
        const scanner = new CallScanner({
          text: (piece) => {
            said += piece;
          },
          call: (call) => calls.push(`${call.name} ${call.argsText}`),
          invented: () => {},
        });
        edges.slice(1).forEach((edge, at) => {
          scanner.push(text.slice(edges[at], edge));
        });
        scanner.end();
        expect(said).toBe("Look:\n");
        expect(calls).toEqual(['read {"path":"a.txt"}', 'read {"path":"a.txt"}']);
      }),
    );
  });

  it("do not delay the text around them", async () => {
    const turn = await read(["a < b ", "and\n<tool", "box> is ", "prose"]);
    const deltas = turn.events.flatMap((event) => (event.type === "text.delta" ? [event.delta] : []));
    expect(deltas).toEqual(["a < b ", "and\n", "<toolbox> is ", "prose"]);
    expect(turn.message.stopReason).toBe("end_turn");
  });

  it("are not confused with prose about tags", async () => {
    const text = `Write ${CALL} to call a tool.`;
    const turn = await read([text]);
    expect(turn.message.content).toEqual([{ type: "text", text }]);
  });

  it.each([
    ['<tool_call>\n{"name": "read", "arguments": {oops}\n</tool_call>', "read", /not valid JSON/],
    ["<tool_call>\nread a.txt\n</tool_call>", "unreadable", /not valid JSON/],
    ['<tool_call>{"arguments": {}}</tool_call>', "unreadable", /no "name"/],
    ['<tool_call>{"name": "read", "arguments": [1]}</tool_call>', "read", /not a JSON object/],
  ])("that are malformed get an error for the model: %s", async (text, name, error) => {
    const [block] = (await read([text])).message.content;
    expect(block).toMatchObject({
      type: "toolCall",
      name,
      args: undefined,
      argsError: expect.stringMatching(error),
    });
  });

  it("may lack the closing tag, have code fences, or have arguments as a string", async () => {
    const calls = async (text: string) =>
      (await read([text])).message.content.map((block) => block.type === "toolCall" && block.args);
    expect(await calls('<tool_call>\n{"name":"read","arguments":{"path":"a"}}')).toEqual([{ path: "a" }]);
    expect(
      await calls('<tool_call>\n```json\n{"name":"read","arguments":{"path":"a"}}\n```\n</tool_call>'),
    ).toEqual([{ path: "a" }]);
    expect(await calls('<tool_call>{"name":"read","arguments":"{\\"path\\":\\"a\\"}"}</tool_call>')).toEqual([
      { path: "a" },
    ]);
  });

  it("do not run if the answer was cut", async () => {
    const turn = await read(['<tool_call>\n{"name":"read","argu'], "max_tokens");
    expect(turn.message.stopReason).toBe("max_tokens");
    expect(turn.message.content).toMatchObject([{ type: "toolCall", args: undefined }]);
  });

  it("end the turn if the model starts to invent results", async () => {
    const turn = await read([
      CALL,
      '\n<tool_result tool="read">secret',
      " stuff</tool_result>\nSo it says secret stuff.",
    ]);
    expect(turn.message.content).toHaveLength(1);
    expect(turn.message.stopReason).toBe("tool_use");
    const { input, output, source } = turn.message.usage ?? NO_USAGE;
    expect(source).toBe("estimated");
    expect(input.total).toBeGreaterThan(20);
    expect(output.total).toBeGreaterThan(3);
  });
});

describe("a request to a model without tool calls", () => {
  const messages: Message[] = [
    go,
    {
      role: "assistant",
      content: [
        { type: "text", text: "Looking." },
        { type: "toolCall", id: "call_1_1", name: "read", args: { path: "a" }, argsText: '{"path":"a"}' },
        {
          type: "toolCall",
          id: "call_1_2",
          name: "read",
          args: undefined,
          argsText: "{oops",
          argsError: "no",
        },
      ],
      api: "openai-chat",
      provider: "local",
      model: "m",
      stopReason: "tool_use",
      timestamp: 0,
    },
    {
      role: "toolResult",
      toolCallId: "call_1_1",
      toolName: "read",
      content: [{ type: "text", text: "A" }],
      isError: false,
      timestamp: 0,
    },
    {
      role: "toolResult",
      toolCallId: "call_1_2",
      toolName: "read",
      content: [{ type: "text", text: "no" }],
      isError: true,
      timestamp: 0,
    },
  ];

  async function given(options: StreamOptions = {}, tools = TOOLS): Promise<Seen> {
    const { stream, seen } = saying(["ok"]);
    await readTurn(stream(model, { system: { stable: "S", volatile: "V" }, messages, tools }, options));
    return seen;
  }

  it("describes the tools in the stable prompt and declares none", async () => {
    const { context, options } = await given();
    expect(context?.tools).toEqual([]);
    expect(context?.system.stable).toMatch(
      /^S\n\n## Calling tools[\s\S]*### read\nReads a file\.[\s\S]*"required":\["path"\]/,
    );
    expect(context?.system.volatile).toBe("V");
    expect(options?.stopSequences).toEqual(["<tool_result"]);
  });

  it("contains earlier calls and results as text", async () => {
    const { context } = await given();
    expect(context?.messages[1]).toMatchObject({
      content: [
        {
          type: "text",
          text: 'Looking.\n<tool_call>\n{"name":"read","arguments":{"path":"a"}}\n</tool_call>\n<tool_call>\n{oops\n</tool_call>',
        },
      ],
    });
    expect(context?.messages[2]).toMatchObject({ role: "user" });
    expect(JSON.stringify(context?.messages[2])).toContain(
      '<tool_result tool=\\"read\\" status=\\"error\\">\\nno\\n</tool_result>',
    );
    expect(context?.messages).toHaveLength(3);
  });

  it("says if a tool has to be called, and mentions no tools if none may be", async () => {
    expect((await given({ toolChoice: "required" })).context?.system.stable).toContain(
      "you have to call a tool",
    );
    expect((await given({ toolChoice: { name: "read" } })).context?.system.stable).toContain(
      'the tool "read"',
    );
    expect((await given({ toolChoice: "none" })).context?.system.stable).toBe("S");
  });
});
