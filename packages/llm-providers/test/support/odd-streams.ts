import type { Recording } from "@signalbox/testkit/wire";
import { openaiChat } from "../../src/openai-chat/index.ts";
import { testModel } from "./fixtures.ts";
import type { Replay } from "./replay.ts";

const sse = (...events: readonly (object | string)[]): string =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");
const chunk = (delta: object, finish: string | null = null, choice: object = {}): object => ({
  id: "c1",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: finish, ...choice }],
});
const usage = { choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 112 } };
const words = (text: string): object[] => (text.match(/\S+\s*/g) ?? []).map((content) => chunk({ content }));
const call = (piece: object): object => chunk({ tool_calls: [{ index: 0, ...piece }] });
const read = (args: string, more: object = {}): object =>
  call({ function: { name: "read", arguments: args }, ...more });

const ANSWER = "The answer is four, as you know.";
const message = { role: "assistant", content: ANSWER };

/** Streams of servers that deviate from OpenAI's API, by their deviation. */
const STREAMS: Readonly<Record<string, string>> = {
  "reasoning with the closing tag only": sse(
    ...words(`Okay, the user wants a number.\n</think>\n\n${ANSWER}`),
    chunk({}, "stop"),
    usage,
    "[DONE]",
  ),
  "reasoning in tags that are cut": sse(
    ...["<th", "ink>So", ".</thi", "nk>", "\n", ANSWER].map((content) => chunk({ content })),
    chunk({}, "stop"),
    usage,
    "[DONE]",
  ),
  "a call in the text": sse(
    ...words('I look.\n<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>'),
    chunk({}, "stop"),
    usage,
    "[DONE]",
  ),
  "calls of Kimi in the text": sse(
    ...[
      "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0",
      "<|tool_call_argument_begin|>{",
      '"path":"a"}',
    ]
      .concat("<|tool_call_end|>", "<|tool_calls_section_end|>")
      .map((content) => chunk({ content })),
    chunk({}, "stop"),
    usage,
    "[DONE]",
  ),
  "text that comes twice": sse(
    ...["The ", "answer."].map((content) => chunk({ content }, null, { text: content })),
    chunk({}, "stop"),
    usage,
    "[DONE]",
  ),
  "the whole message at the end": sse(
    ...words(ANSWER),
    {
      object: "chat.completion",
      choices: [{ index: 0, finish_reason: "stop", message }],
      usage: usage.usage,
    },
    "[DONE]",
  ),
  "all text again in the last delta": sse(
    ...words(ANSWER),
    chunk({ content: ANSWER }, "stop"),
    usage,
    "[DONE]",
  ),
  "parallel calls that are all numbered 0": sse(
    read('{"path":"a"}'),
    read('{"path":"b"}'),
    chunk({}, "tool_calls"),
    usage,
    "[DONE]",
  ),
  "keep-alives as data, and CRLF": sse(
    "ping",
    ...words(ANSWER),
    "",
    chunk({}, "stop"),
    usage,
    "[DONE]",
  ).replaceAll("\n", "\r\n"),
  "no finish reason": sse(...words(ANSWER), usage, "[DONE]"),
};

/** The same as recordings. */
export const oddStreams: readonly Recording[] = Object.entries(STREAMS).map(([deviation, res]) => ({
  src: deviation,
  host: "host.test",
  method: "POST",
  path: "/v1/chat/completions",
  status: 200,
  ctype: "text/event-stream",
  req: {},
  res,
}));

/** The account of a server that sends them. */
export const oddServer: Replay = {
  provider: openaiChat,
  model: testModel("openai-chat", "m"),
  baseUrl: "https://host.test/v1",
  tools: [{ name: "read", description: "Reads a file.", inputSchema: { type: "object", properties: {} } }],
};
