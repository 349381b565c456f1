import { type Content, GoogleGenAI } from "@google/genai";
import { afterEach, expect, test } from "vitest";
import { type FakeGoogle, type GoogleOptions, startGoogle } from "../src/google/index.ts";

const running: FakeGoogle[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

async function start(options: GoogleOptions): Promise<{ server: FakeGoogle; client: GoogleGenAI }> {
  const server = await startGoogle(options);
  running.push(server);
  return {
    server,
    client: new GoogleGenAI({ vertexai: false, apiKey: "key", httpOptions: { baseUrl: server.url } }),
  };
}

const turn = {
  thinking: "Hm.",
  text: "Reading 🎉.",
  toolCalls: [
    { name: "read", input: { path: "a" } },
    { name: "now", input: {} },
  ],
};

test("the vendor's SDK talks to it, streamed and not, and its signatures come back", async () => {
  const { client } = await start({ script: [turn, turn, { text: "Done." }] });
  const model = "gemini-3.5-flash";
  const asked = { model, contents: "Hi.", config: { thinkingConfig: { includeThoughts: true } } };
  const whole = await client.models.generateContent(asked);
  expect([whole.text, whole.functionCalls?.map((call) => call.name)]).toEqual([
    "Reading 🎉.",
    ["read", "now"],
  ]);
  const parts = [];
  for await (const chunk of await client.models.generateContentStream(asked))
    parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
  expect(parts.map((part) => (part.thought ? "" : (part.text ?? ""))).join("")).toBe("Reading 🎉.");
  const contents: Content[] = [
    { role: "user", parts: [{ text: "Hi." }] },
    { role: "model", parts },
    {
      role: "user",
      parts: ["read", "now"].map((name) => ({ functionResponse: { name, response: { output: "x" } } })),
    },
  ];
  expect((await client.models.generateContent({ model, contents })).text).toBe("Done.");
});

const user = (...parts: object[]): object => ({ role: "user", parts });
const said = (...parts: object[]): object => ({ role: "model", parts });
const hi = user({ text: "Hi." });
const call = {
  functionCall: { name: "read", args: {} },
  thoughtSignature: "skip_thought_signature_validator",
};
const result = { functionResponse: { name: "read", response: {} } };

test.each<[string, object, string]>([
  ["an unknown field", { nonsense: 1 }, 'Unknown name \\"nonsense\\"'],
  [
    "an unknown field of a part",
    { contents: [user({ text: "x", nonsense: 1 })] },
    'Unknown name \\"nonsense\\"',
  ],
  ["an unknown setting", { generationConfig: { nonsense: 1 } }, 'Unknown name \\"nonsense\\"'],
  ["no contents", { contents: [] }, "contents is not specified"],
  ["an empty part", { contents: [user({})] }, "must have one initialized field"],
  ["another role", { contents: [{ role: "system", parts: [{ text: "x" }] }] }, "Please use a valid role"],
  ["two turns of one role", { contents: [hi, hi] }, "alternate between user and model"],
  ["an answer at the end", { contents: [hi, said({ text: "x" })] }, "end with a user role"],
  ["a call without a response", { contents: [hi, said(call), hi] }, "number of function response parts"],
  ["a response without a call", { contents: [user(result)] }, "immediately after a function call turn"],
  [
    "a response to another",
    { contents: [hi, said(call), user({ functionResponse: { name: "x", response: {} } })] },
    "does not match any function call",
  ],
  [
    "a call without a signature",
    { contents: [hi, said({ functionCall: call.functionCall }), user(result)] },
    "missing a thought_signature",
  ],
  [
    "a forged signature",
    { contents: [hi, said({ ...call, thoughtSignature: "AAAA" }), user(result)] },
    "Corrupted thought signature",
  ],
  [
    "two ways to think",
    { generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: "LOW" } } },
    "only one of thinking budget",
  ],
  [
    "not to think",
    { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
    "only works in thinking mode",
  ],
  [
    "a tool with a bad name",
    { tools: [{ functionDeclarations: [{ name: "1 a" }] }] },
    "Invalid function name",
  ],
  [
    "too much",
    { contents: [user({ text: "x".repeat(9000) })] },
    "exceeds the maximum number of tokens allowed (2000)",
  ],
])("it refuses %s", async (_, fields, words) => {
  const { server } = await start({ script: () => ({ text: "x" }), contextWindow: 2000 });
  const url = `${server.url}/v1beta/models/gemini-3.5-flash:generateContent`;
  const response = await fetch(url, { method: "POST", body: JSON.stringify({ contents: [hi], ...fields }) });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain(words);
});

test("earlier turns need no signature, and older models none at all", async () => {
  const { server } = await start({ script: () => ({ text: "x" }) });
  const bare = said({ functionCall: call.functionCall });
  const ask = async (model: string, contents: object[]): Promise<number> =>
    (
      await fetch(`${server.url}/v1beta/models/${model}:generateContent`, {
        method: "POST",
        body: JSON.stringify({ contents }),
      })
    ).status;
  expect(await ask("gemini-3.5-flash", [hi, bare, user(result), said({ text: "x" }), hi])).toBe(200);
  expect(await ask("gemini-2.5-flash", [hi, bare, user(result)])).toBe(200);
});

test("keys, models and scripted errors", async () => {
  const { client } = await start({ script: [{ text: "x" }], apiKey: "another" });
  await expect(client.models.generateContent({ model: "m", contents: "Hi." })).rejects.toMatchObject({
    status: 400,
  });
  const second = await start({ script: [{ error: { status: 429, retryAfter: 2 } }], models: ["m"] });
  await expect(second.client.models.generateContent({ model: "n", contents: "Hi." })).rejects.toMatchObject({
    status: 404,
  });
  await expect(second.client.models.generateContent({ model: "m", contents: "Hi." })).rejects.toThrow(
    "RetryInfo",
  );
});
