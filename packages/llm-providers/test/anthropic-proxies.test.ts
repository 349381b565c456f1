// Streams of servers that imitate Anthropic's API, or of proxies in front of other vendors, in their smallest form.
import { expect, it } from "vitest";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { googleGenerative } from "../src/google/index.ts";
import { type ReadTurn, readTurn, wire } from "../src/testkit/index.ts";
import { testModel } from "./support/fixtures.ts";

const sse = (...events: readonly (object | string)[]) =>
  Buffer.from(
    events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join(""),
  );

const messages = [{ role: "user" as const, content: "Hi.", timestamp: 0 }];

function read(...events: readonly (object | string)[]): Promise<ReadTurn> {
  const { fetch } = wire({ pieces: [sse(...events)] });
  const stream = anthropicMessages.connect({ apiKey: "k", baseUrl: "https://host.test", fetch });
  return readTurn(
    stream(testModel("anthropic-messages", "m"), { system: { stable: "" }, messages, tools: [] }),
  );
}

const START = { type: "message_start", message: { id: "m", usage: { input_tokens: 9, output_tokens: 1 } } };
const TEXT = [
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
  { type: "content_block_stop", index: 0 },
];
const end = (stop_reason: string) => ({
  type: "message_delta",
  delta: { stop_reason },
  usage: { output_tokens: 5 },
});
const ANSWER = { error: undefined, message: { content: [{ type: "text", text: "Hi" }] } };

it("ends with [DONE] instead of Anthropic's last event", async () => {
  expect(await read(START, ...TEXT, end("end_turn"), "[DONE]")).toMatchObject(ANSWER);
});

it("is one event with the whole message", async () => {
  const message = { type: "message", content: [{ type: "text", text: "Hi" }], stop_reason: "end_turn" };
  expect(await read(message)).toMatchObject(ANSWER);
});

it.each([
  ["length", "max_tokens"],
  ["content_filter", "filter"],
])("with another vendor's stop reason %s ends with %s", async (reason, stopReason) => {
  const turn = await read(START, ...TEXT, end(reason), { type: "message_stop" });
  expect(turn.message.stopReason).toBe(stopReason);
});

it("fails with the message of an error without an error object", async () => {
  const turn = await read(START, { type: "error", message: "The upstream is gone." });
  expect(turn.error).toMatchObject({ message: "The upstream is gone." });
});

it("accepts Gemini's finish reasons in lower case", async () => {
  const candidates = [{ content: { parts: [{ text: "Hi" }] }, finishReason: "stop" }];
  const { fetch } = wire({ pieces: [sse({ candidates })] });
  const stream = googleGenerative.connect({ apiKey: "k", baseUrl: "https://host.test", fetch });
  const context = { system: { stable: "" }, messages, tools: [] };
  expect(await readTurn(stream(testModel("google-generative", "m"), context))).toMatchObject(ANSWER);
});
