import { Mistral } from "@mistralai/mistralai";
import { afterEach, expect, test } from "vitest";
import { type FakeMistral, type MistralOptions, startMistral } from "../src/mistral/index.ts";

const running: FakeMistral[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

async function start(options: MistralOptions): Promise<{ server: FakeMistral; client: Mistral }> {
  const server = await startMistral(options);
  running.push(server);
  return { server, client: new Mistral({ apiKey: "key", serverURL: server.url }) };
}

const hi = { role: "user", content: "Hi." } as const;
const turn = {
  thinking: "Hm.",
  text: "Reading 🎉.",
  toolCalls: [{ name: "read", input: { path: "a" } }],
  usage: { cacheRead: 3 },
};

test("the vendor's SDK talks to it, streamed and not", async () => {
  const { client } = await start({ script: [turn, turn] });
  const whole = await client.chat.complete({ model: "m", messages: [hi] });
  expect(whole.choices[0]).toMatchObject({
    finishReason: "tool_calls",
    message: {
      content: [{ type: "thinking" }, { type: "text", text: "Reading 🎉." }],
      toolCalls: [{ function: { name: "read", arguments: '{"path":"a"}' } }],
    },
  });
  let text = "";
  let reason: unknown;
  for await (const { data } of await client.chat.stream({ model: "m", messages: [hi] })) {
    const content = data.choices[0]?.delta.content;
    if (Array.isArray(content))
      for (const part of content) if (part.type === "text" && "text" in part) text += part.text;
    reason = data.choices[0]?.finishReason ?? reason;
  }
  expect([text, reason]).toEqual(["Reading 🎉.", "tool_calls"]);
});

const call = {
  role: "assistant",
  content: "",
  tool_calls: [{ id: "abcdefghi", function: { name: "read", arguments: "{}" } }],
};
const result = { role: "tool", tool_call_id: "abcdefghi", content: "x" };

test.each<[string, object, number, string]>([
  ["an unknown parameter", { nonsense: 1 }, 422, "extra_forbidden"],
  ["an unknown property of a message", { messages: [{ ...hi, name: "x" }] }, 422, "extra_forbidden"],
  ["no messages", { messages: [] }, 422, "too_short"],
  [
    "a long call id",
    { messages: [hi, { ...call, tool_calls: [{ ...call.tool_calls[0], id: "call_1234" }] }] },
    400,
    "with a length of 9",
  ],
  ["a result without a call", { messages: [hi, result] }, 400, "Unexpected role 'tool' after role 'user'"],
  [
    "a call without a result",
    { messages: [hi, call, hi] },
    400,
    "Not the same number of function calls and responses",
  ],
  [
    "a person's word after a result",
    { messages: [hi, call, result, hi] },
    400,
    "Unexpected role 'user' after role 'tool'",
  ],
  [
    "an answer at the end",
    { messages: [hi, { role: "assistant", content: "x" }] },
    400,
    "Expected last role User or Tool",
  ],
  [
    "an empty answer",
    { messages: [hi, { role: "assistant", content: "" }, hi] },
    400,
    "must have either content or tool_calls",
  ],
  ["a choice without tools", { tool_choice: "any" }, 400, "'tools' must be set"],
  ["a tool without parameters", { tools: [{ type: "function", function: { name: "f" } }] }, 422, "missing"],
  ["an unknown model", { model: "other" }, 400, "Invalid model: other"],
  [
    "too much",
    { messages: [{ ...hi, content: "x".repeat(9000) }] },
    400,
    "too large for model with 2000 maximum context length",
  ],
])("it refuses %s", async (_, fields, status, words) => {
  const { server } = await start({ script: () => ({ text: "x" }), models: ["m"], contextWindow: 2000 });
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", messages: [hi], ...fields }),
  });
  expect(response.status).toBe(status);
  expect(await response.text()).toContain(words);
});

test("keys and scripted errors", async () => {
  const { client } = await start({ script: [{ text: "x" }], apiKey: "another" });
  await expect(client.chat.complete({ model: "m", messages: [hi] })).rejects.toMatchObject({
    statusCode: 401,
  });
  const second = await start({ script: [{ error: { status: 429, retryAfter: 2 } }] });
  await expect(second.client.chat.complete({ model: "m", messages: [hi] })).rejects.toMatchObject({
    statusCode: 429,
  });
});
