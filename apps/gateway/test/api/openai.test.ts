import type { ScriptedTurn } from "@signalbox/testkit";
import type OpenAI from "openai";
import { AuthenticationError, BadRequestError, NotFoundError } from "openai";
import { beforeEach, describe, expect, it } from "vitest";
import { exampleConfig, inboxRows, openWorld, type Started, TOKEN, type World } from "../support/harness.ts";
import { cacheMarks, modelRequests } from "../support/model-requests.ts";
import { clientOf, refusal } from "../support/openai-client.ts";

const MODEL = "signalbox/coder";
const LS = { id: "toolu_ls", name: "ls", input: {} };

let world: World;
let started: Started;
let client: OpenAI;

async function raw(
  init: RequestInit,
  path = "/v1/chat/completions",
): Promise<{ status: number; error: unknown }> {
  const response = await fetch(`${started.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    ...init,
  });
  const body: unknown = await response.json();
  return {
    status: response.status,
    error: body !== null && typeof body === "object" && "error" in body ? body.error : undefined,
  };
}

const say = (content: string) => ({ model: MODEL, messages: [{ role: "user" as const, content }] });

describe("the OpenAI surface", () => {
  beforeEach(async () => {
    world = await openWorld();
    world.configure(exampleConfig({ channels: {} }));
    started = await world.start();
    client = clientOf(started);
  });

  it("lists agents as models", async () => {
    const models = [];
    for await (const model of client.models.list()) models.push(model);
    expect(models).toEqual([
      { id: MODEL, object: "model", created: expect.any(Number), owned_by: "signalbox" },
    ]);
    expect(await client.models.retrieve(MODEL)).toEqual(models[0]);
    expect(await refusal(() => client.models.retrieve("signalbox/nobody"))).toBeInstanceOf(NotFoundError);
  });

  it("answers in one response with the usage of the whole run", async () => {
    world.files({ "a.txt": "x" });
    world.script([
      { toolCalls: [{ id: "toolu_1", name: "ls", input: { path: "." } }], usage: { input: 100, output: 10 } },
      { text: "There is **a.txt**.", usage: { input: 200, output: 20, cacheRead: 50 } },
    ]);
    const completion = await client.chat.completions.create(say("what is there?"));
    expect(completion).toMatchObject({
      object: "chat.completion",
      model: MODEL,
      choices: [
        { index: 0, finish_reason: "stop", message: { role: "assistant", content: "There is **a.txt**." } },
      ],
      usage: {
        prompt_tokens: 350,
        completion_tokens: 30,
        total_tokens: 380,
        prompt_tokens_details: { cached_tokens: 50 },
      },
    });
    expect(Math.abs(completion.created - Date.now() / 1000)).toBeLessThan(60);
    expect(modelRequests(world.anthropic)[0]?.messages.at(-1)?.text).toMatch(
      /signalbox\.inbound_meta[\s\S]*what is there\?$/,
    );
  });

  it("streams the same text as an unstreamed response", async () => {
    const text = "Ein längerer Satz, 一个更长的句子 😀, cut into many pieces. ".repeat(5).trim();
    world.script([
      { text: "Let me look.", toolCalls: [{ id: "toolu_1", name: "ls", input: {} }] },
      { text, chunks: 30, deltaMs: 2, usage: { input: 10, output: 5 } },
      { text: "Let me look.", toolCalls: [{ id: "toolu_2", name: "ls", input: {} }] },
      { text },
      { text },
    ]);
    const stream = await client.chat.completions.create({
      ...say("tell"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    const streamed = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    const whole = await client.chat.completions.create(say("tell"));
    expect(streamed).toBe(whole.choices[0]?.message.content);
    expect(streamed.endsWith(text)).toBe(true);
    expect(chunks.length).toBeGreaterThan(10);
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(
      chunks.map(({ choices }) => choices[0]?.finish_reason ?? null).filter((reason) => reason !== null),
    ).toEqual(["stop"]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 20 } });
    const bare = [];
    for await (const chunk of await client.chat.completions.create({ ...say("tell"), stream: true }))
      bare.push(chunk);
    expect(bare.filter(({ usage }) => usage)).toEqual([]);
  });

  it.each([
    ["a directive", [{ text: "[[reply_to_current]] hello" }], "hello"],
    ["an attachment", [{ text: "see\nMEDIA: a.png\nthere" }], "see\nthere\n[file: a.png]"],
    ["silence", [{ text: "`__SILENT__`" }], ""],
    ["white space", [{ text: "\n\n hello \n\n" }], "hello"],
    ["a silent first turn", [{ text: "__SILENT__", toolCalls: [LS] }, { text: "Done" }], "Done"],
    [
      "a turn that goes on",
      [{ text: "cut here ", stopReason: "max_tokens" }, { text: "and on" }],
      "cut here and on",
    ],
    ["thinking", [{ thinking: "hm", text: "well" }], "well"],
  ] satisfies [string, ScriptedTurn[], string][])(
    "streams %s as it gives it whole",
    async (_, turns, text) => {
      world.script((_body, index) => turns[index % turns.length] ?? { text: "no turn" });
      const whole = await client.chat.completions.create(say("hi"));
      expect(whole.choices[0]?.message.content).toBe(text);
      let streamed = "";
      for await (const { choices } of await client.chat.completions.create({ ...say("hi"), stream: true }))
        streamed += choices[0]?.delta.content ?? "";
      expect(streamed).toBe(text);
    },
  );

  it("tells the model that the client receives only the reply", async () => {
    const call = { id: "toolu_1", name: "message", input: { action: "send", message: "hello" } };
    world.script([{ toolCalls: [call] }, { text: "hello" }]);
    const completion = await client.chat.completions.create(say("hi"));
    expect(completion.choices[0]?.message.content).toBe("hello");
    expect(modelRequests(world.anthropic)[1]?.messages.at(-1)?.text).toMatch(/your reply/i);
  });

  it("reports an answer that was cut by the model's limit", async () => {
    world.script(() => ({ text: "and so", stopReason: "max_tokens" }));
    const completion = await client.chat.completions.create(say("go on"));
    expect(completion.choices[0]?.finish_reason).toBe("length");
    expect(completion.choices[0]?.message.content).toContain("and so");
  });

  it("reports finish_reason content_filter for a refusal", async () => {
    world.script(() => ({ text: "I cannot help with that.", stopReason: "refusal" }));
    const completion = await client.chat.completions.create(say("do harm"));
    expect(completion.choices[0]?.finish_reason).toBe("content_filter");
    expect(completion.choices[0]?.message.content).toContain("I cannot help");
  });

  it("returns errors in OpenAI's format", async () => {
    const wrong = await refusal(() => clientOf(started, { apiKey: "a guess" }).models.list());
    expect(wrong).toBeInstanceOf(AuthenticationError);
    expect(wrong).toMatchObject({ status: 401, code: "invalid_api_key", type: "invalid_request_error" });
    const none = await fetch(`${started.url}/v1/models`);
    expect([none.status, await none.json()]).toMatchObject([
      401,
      { error: { code: "invalid_api_key", param: null } },
    ]);

    const unknown = await refusal(() => client.chat.completions.create({ ...say("hi"), model: "gpt-9" }));
    expect(unknown).toBeInstanceOf(NotFoundError);
    expect(unknown).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
    expect(unknown.message).toContain(MODEL);

    const tools = await refusal(() =>
      client.chat.completions.create({
        ...say("hi"),
        tools: [
          { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } },
        ],
      }),
    );
    expect(tools).toBeInstanceOf(BadRequestError);
    expect(tools).toMatchObject({ status: 400, param: "tools" });
    expect(await refusal(() => client.chat.completions.create({ ...say("hi"), n: 2 }))).toMatchObject({
      status: 400,
      param: "n",
    });
    const picture = { type: "image_url" as const, image_url: { url: "file:///etc/passwd" } };
    expect(
      await refusal(() =>
        client.chat.completions.create({ model: MODEL, messages: [{ role: "user", content: [picture] }] }),
      ),
    ).toMatchObject({ status: 400, param: "messages[0].content[0]" });
    expect(
      await refusal(() =>
        client.chat.completions.create({ model: MODEL, messages: [{ role: "assistant", content: "I" }] }),
      ),
    ).toMatchObject({ status: 400, param: "messages" });

    const errorShape = {
      message: expect.any(String),
      type: "invalid_request_error",
      param: expect.toSatisfy(isTextOrNull),
      code: expect.toSatisfy(isTextOrNull),
    };
    for (const body of [
      "{",
      "",
      "[]",
      "null",
      "3",
      '{"model":3}',
      '{"model":"signalbox/coder","messages":[]}',
    ])
      expect(await raw({ body })).toEqual({ status: 400, error: errorShape });
    const tooLong = JSON.stringify(say("x".repeat(1_000_000)));
    expect(await raw({ body: tooLong })).toEqual({ status: 413, error: errorShape });
    const tooMany = { model: MODEL, messages: Array.from({ length: 5_001 }, () => say("hi").messages[0]) };
    expect(await raw({ body: JSON.stringify(tooMany) })).toEqual({ status: 400, error: errorShape });
    const over = JSON.stringify(say("x".repeat(10_000_000)));
    expect(await raw({ body: over })).toEqual({ status: 413, error: errorShape });
    expect(await refusal(() => client.chat.completions.create(say("x".repeat(10_000_000))))).toMatchObject({
      status: 413,
    });
    expect(
      await raw({ body: "{}", headers: { authorization: `Bearer ${TOKEN}`, "content-type": "text/plain" } }),
    ).toEqual({ status: 415, error: errorShape });
    expect(await refusal(() => client.embeddings.create({ model: MODEL, input: "x" }))).toBeInstanceOf(
      NotFoundError,
    );
    expect(await refusal(() => client.get("/nothing"))).toMatchObject({ status: 404, code: "not_found" });
    expect(await raw({ body: "{}" }, "/v1/embeddings")).toEqual({ status: 404, error: errorShape });
    expect(world.anthropic.requests).toEqual([]);
    expect(await inboxRows(world)).toEqual([]);
  });

  it("returns an error if the model fails, streamed and unstreamed", async () => {
    world.script(() => ({ error: { status: 401, message: "no such key" } }));
    expect(await refusal(() => client.chat.completions.create(say("hi")))).toMatchObject({
      status: 403,
      code: "auth",
      type: "permission_error",
    });
    const broken = await refusal(async () => {
      for await (const _ of await client.chat.completions.create({ ...say("hi"), stream: true }));
    });
    expect(broken.error).toMatchObject({ code: "auth", type: "permission_error" });
  });

  it("repeats an interrupted request only if no client has seen part of the answer", async () => {
    const cut: ScriptedTurn = { text: "one and two", fault: { kind: "cut", afterEvents: 4 } };
    world.script((_, index) => (index % 2 === 0 ? cut : { text: "all well" }));
    const whole = await client.chat.completions.create(say("hi"));
    expect(whole.choices[0]?.message.content).toBe("all well");
    const asked = world.anthropic.requests.length;
    let read = "";
    const broken = await refusal(async () => {
      for await (const { choices } of await client.chat.completions.create({ ...say("hi"), stream: true }))
        read += choices[0]?.delta.content ?? "";
    });
    expect(broken.error).toMatchObject({ type: "server_error" });
    expect("one and two").toContain(read);
    expect(world.anthropic.requests).toHaveLength(asked + 1);
  });

  it("keeps the conversation of a named user", async () => {
    world.script((_, index) => ({ text: `answer ${index}` }));
    await client.chat.completions.create({ ...say("first"), user: "anna" });
    // A client that sends its own copy of the history does not get it twice.
    await client.chat.completions.create({
      model: MODEL,
      user: "anna",
      messages: [
        { role: "user", content: "first" },
        { role: "assistant", content: "answer 0" },
        { role: "user", content: "second" },
      ],
    });
    await client.chat.completions.create({ ...say("other"), user: "ben" });
    const [first, second, other] = modelRequests(world.anthropic);
    expect(second?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(second?.messages[0]).toEqual(first?.messages[0]);
    expect(second?.messages[0]?.text).toMatch(/first$/);
    expect(second?.messages[1]?.text).toBe("answer 0");
    expect(second?.messages[2]?.text).toMatch(/second$/);
    expect(other?.messages).toHaveLength(1);
    await started.stop();
    started = await world.start();
    await clientOf(started).chat.completions.create({ ...say("third"), user: "anna" });
    expect(modelRequests(world.anthropic).at(-1)?.messages).toHaveLength(5);
  });

  it("uses the history and instructions that a client sends", async () => {
    world.script((_, index) => ({ text: `answer ${index}` }));
    const completion = await client.chat.completions.create({
      model: MODEL,
      messages: [
        { role: "system", content: "Answer in rhymes." },
        { role: "user", content: "My name is Anna." },
        { role: "assistant", content: "Hello Anna, hosanna." },
        { role: "developer", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "What is " },
            { type: "text", text: "my name?" },
          ],
        },
      ],
    });
    expect(completion.choices[0]?.message.content).toBe("answer 0");
    const [request] = modelRequests(world.anthropic);
    expect(request?.messages.slice(0, 2)).toEqual([
      { role: "user", text: "My name is Anna." },
      { role: "assistant", text: "Hello Anna, hosanna." },
    ]);
    expect(request?.messages[2]?.text).toMatch(/What is my name\?$/);
    expect(request?.volatile).toContain("Answer in rhymes.\n\nBe brief.");
    expect(request?.stable).not.toContain("rhymes");
    expect(cacheMarks(request?.body)).toBeLessThanOrEqual(4);
    // The next request without a user is another conversation.
    await client.chat.completions.create(say("And now?"));
    expect(modelRequests(world.anthropic)[1]?.messages).toHaveLength(1);
    expect(modelRequests(world.anthropic)[1]?.volatile).not.toContain("rhymes");
  });

  it("answers many at once, each with its own", async () => {
    world.script((body) => {
      const asked = /q(\d+)"/.exec(JSON.stringify(body))?.[1] ?? "?";
      return { text: `a${asked}`, delayMs: 5 };
    });
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const user = index % 3 === 0 ? { user: "same" } : {};
        const { choices } = await client.chat.completions.create({ ...say(`q${index}`), ...user });
        return choices[0]?.message.content;
      }),
    );
    // Those of one user are turns of one conversation, in which the latest question is the last one.
    const alone = answers.filter((_, index) => index % 3 !== 0);
    expect(alone).toEqual(
      Array.from({ length: 30 }, (_, index) => `a${index}`).filter((_, index) => index % 3 !== 0),
    );
    expect(answers.every((answer) => /^a\d+$/.test(answer ?? ""))).toBe(true);
  });
});

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === "string";
}
