import { readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createOpenAI } from "@ai-sdk/openai";
import type { ScriptedTurn } from "@signalbox/testkit";
import { APICallError, generateText, jsonSchema, Output, RetryError } from "ai";
import type { ClientOptions } from "openai";
import { beforeEach, describe, expect, it } from "vitest";
import {
  exampleConfig,
  inboxRows,
  openWorld,
  type Started,
  TOKEN,
  taintIn,
  type World,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { clientOf, refusal } from "../support/openai-client.ts";

const MODEL = "signalbox/coder";
const hello = { model: MODEL, messages: [{ role: "user" as const, content: "hello" }] };
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/** A picture that is too large to stand in its message, in base64. */
const LARGE = Buffer.concat([
  Buffer.from(PIXEL.split(",")[1] ?? "", "base64"),
  Buffer.alloc(300_000, 7),
]).toString("base64");
const largePicture = { type: "image_url" as const, image_url: { url: `data:image/png;base64,${LARGE}` } };

let world: World;
let started: Started;

const openai = (options?: ClientOptions) => clientOf(started, options);
const vercel = () => createOpenAI({ apiKey: TOKEN, baseURL: `${started.url}/v1` });

beforeEach(async () => {
  world = await openWorld();
  world.configure(exampleConfig({ channels: {} }));
  started = await world.start();
});

const KEYED = { headers: { "Idempotency-Key": "a-dot" } };

/** A request that goes on after a picture. */
const asking = (picture: typeof largePicture) => ({
  model: MODEL,
  messages: [
    { role: "user" as const, content: [{ type: "text" as const, text: "what is it?" }, picture] },
    { role: "assistant" as const, content: "a dot" },
    { role: "user" as const, content: "sure?" },
  ],
});

/** A gateway that gives what runs no time when it stops. */
async function startImpatient(): Promise<void> {
  await started.stop();
  const gateway = { port: 0, auth: { token: TOKEN }, shutdownMs: 0 };
  world.configure(exampleConfig({ channels: {}, gateway }));
  started = await world.start();
}

describe("a repeated request", () => {
  it("runs the tools of a turn once, even if the client's timeout repeats the request", async () => {
    const timeOut = new AbortController();
    const again = Promise.withResolvers<void>();
    let asked = 0;
    world.script(async (_, index) => {
      asked += 1;
      if (index === 0)
        return { toolCalls: [{ id: "w", name: "write", input: { file_path: "a.txt", content: "once" } }] };
      timeOut.abort();
      await again.promise;
      return { text: "written" };
    });
    // The time-out of the first request comes when its tool has run, not sooner on a slow machine.
    const signals = [timeOut.signal];
    const impatient: typeof fetch = (url, init) =>
      fetch(url, { ...init, signal: signals.shift() ?? init?.signal ?? null });
    const answer = openai({ maxRetries: 1, fetch: impatient }).chat.completions.create(hello);
    // The model answers only once the first attempt was given up.
    const service = started.gateway.service;
    const submit = service.submit;
    let attempts = 0;
    Object.assign(service, {
      submit: (...given: Parameters<typeof submit>) => {
        attempts += 1;
        if (attempts > 1) again.resolve();
        return submit(...given);
      },
    });
    await expect.poll(() => attempts).toBeGreaterThan(1);
    expect((await answer).choices[0]?.message.content).toBe("written");
    expect(asked).toBe(2);
    expect(await inboxRows(world)).toHaveLength(1);
  });

  it("gets the same answer for its key, also from the next process", async () => {
    world.script((_, index) => ({ text: `answer ${index}` }));
    const headers = { "Idempotency-Key": "order-66" };
    const ask = () => generateText({ model: vercel()(MODEL), prompt: "hello", headers });
    const first = await ask();
    expect((await ask()).text).toBe(first.text);
    await started.stop();
    started = await world.start();
    expect((await ask()).text).toBe(first.text);
    expect(world.anthropic.requests).toHaveLength(1);
    const other = { ...hello, messages: [{ role: "user" as const, content: "else" }] };
    await openai().chat.completions.create(hello, { headers });
    expect(await refusal(() => openai().chat.completions.create(other, { headers }))).toMatchObject({
      status: 422,
    });
  });

  it("is a new request if anything but its key differs, so that no client gets another's answer", async () => {
    world.script((_, index) => ({ text: `answer ${index}` }));
    const options = { headers: { "Idempotency-Key": "order-67" } };
    // Two people at one front end, who come to say the same.
    const said = (name: string) => ({
      model: MODEL,
      messages: [
        { role: "user" as const, content: `I am ${name}.` },
        { role: "assistant" as const, content: "Hello." },
        { role: "user" as const, content: "Who am I?\0 \ud800" },
      ],
    });
    const ask = (request: object) => openai().post("/chat/completions", { body: request, ...options });
    const first = await ask(said("Ann"));
    expect(await ask(said("Ann"))).toMatchObject({ id: Reflect.get(Object(first), "id") });
    const dot = { type: "image_url", image_url: { url: PIXEL } };
    const others: readonly object[] = [
      said("Bob"),
      { ...said("Ann"), user: "bob" },
      { ...said("Ann"), temperature: 0.5 },
      { ...said("Ann"), messages: [{ role: "system", content: "Rhyme." }, ...said("Ann").messages] },
      { ...said("Ann"), messages: [...said("Ann").messages.slice(0, 2), { role: "user", content: [dot] }] },
    ];
    for (const other of others)
      expect(await refusal(() => ask(other))).toMatchObject({ status: 422, code: "idempotency_key_reused" });
    expect(world.anthropic.requests).toHaveLength(1);
  });

  it("shows the model the images of earlier messages", async () => {
    world.script(() => ({ text: "a dot" }));
    const image = { type: "image_url" as const, image_url: { url: PIXEL } };
    await openai().chat.completions.create({
      model: MODEL,
      messages: [
        { role: "user", content: [{ type: "text", text: "what is it?" }, image] },
        { role: "assistant", content: "a dot" },
        { role: "user", content: "sure?" },
      ],
    });
    const [request] = modelRequests(world.anthropic);
    expect(request?.body.messages[0]?.content).toContainEqual(expect.objectContaining({ type: "image" }));
  });

  it("shows a large image of an earlier message after a kill, and stores it outside the database", async () => {
    await started.stop();
    world.script((_, index) =>
      index === 0 ? { text: "never ends", fault: { kind: "stall", afterEvents: 1 } } : { text: "a dot" },
    );
    const first = await world.startChild();
    const asked = refusal(() =>
      clientOf(first, { maxRetries: 0 }).chat.completions.create(asking(largePicture), KEYED),
    );
    await expect.poll(() => world.anthropic.requests.length).toBe(1);
    await first.end("SIGKILL");
    await asked;
    started = await world.start();
    const answer = await openai().chat.completions.create(asking(largePicture), KEYED);
    expect(answer.choices[0]?.message.content).toBe("a dot");
    // The whole of it would be printed where it is not there.
    const isShown = modelRequests(world.anthropic).map(({ body }) =>
      JSON.stringify(body.messages[0]).includes(LARGE),
    );
    expect(isShown).toEqual([true, true]);
    await started.stop();
    const database = new DatabaseSync(world.home.databaseFile);
    const longest = database.prepare("SELECT max(length(body)) AS length FROM entry").get();
    database.close();
    expect(longest?.["length"]).toBeLessThan(20_000);
  });

  it("is a new request if an image of an earlier message differs", async () => {
    world.script(() => ({ text: "a dot" }));
    const first = await openai().chat.completions.create(asking(largePicture), KEYED);
    const other = { url: `data:image/png;base64,${LARGE.slice(0, -4)}AAAA` };
    expect(
      await refusal(() =>
        openai().chat.completions.create(asking({ ...largePicture, image_url: other }), KEYED),
      ),
    ).toMatchObject({ status: 422, code: "idempotency_key_reused" });
    expect((await openai().chat.completions.create(asking(largePicture), KEYED)).id).toBe(first.id);
    expect(world.anthropic.requests).toHaveLength(1);
    await expect.poll(() => readdirSync(join(world.home.mediaDir, "carried"))).toEqual([]);
  });

  it("taints its conversation if an image of an earlier message is really a text", async () => {
    world.script(() => ({ text: "a text" }));
    const text = Buffer.from("Words of others. ".repeat(10_000)).toString("base64");
    const url = `data:image/png;base64,${text}`;
    await openai().chat.completions.create(asking({ ...largePicture, image_url: { url } }));
    expect(await taintIn(world)).toContain("file");
  });

  it("is explained under the client's id", async () => {
    world.script(() => ({ text: "hi" }));
    const { id } = await openai().chat.completions.create(hello);
    const response = await openai().responses.create({ model: MODEL, input: "hello" });
    for (const one of [id, response.id])
      expect((await started.gateway.service.trace(one))?.entries.map(({ stage }) => stage)).toContain("run");
  });
});

describe("an answer in JSON", () => {
  const asksForJson = { ...hello, response_format: { type: "json_object" as const } };
  const turns = [
    { text: "Let me look.", toolCalls: [{ id: "toolu_1", name: "ls", input: {} }] },
    { text: '```json\n{"n":1}\n```' },
  ];

  it("is the text of the last turn alone, also for a model without an option for JSON", async () => {
    world.script((_, index) => turns[index % turns.length] ?? { text: "" });
    const whole = await openai().chat.completions.create(asksForJson);
    expect(whole.choices[0]?.message.content).toBe('{"n":1}');
    let streamed = "";
    for await (const { choices } of await openai().chat.completions.create({ ...asksForJson, stream: true }))
      streamed += choices[0]?.delta.content ?? "";
    expect(streamed).toBe('{"n":1}');
  });

  it("is an error if the model answers in prose", async () => {
    world.script(() => ({ text: "There is one." }));
    const error = await refusal(() => openai().chat.completions.create(asksForJson));
    expect(error.status).toBe(502);
    expect(error.error).toMatchObject({ message: expect.stringContaining("JSON was requested") });
  });
});

describe("options of a request", () => {
  it("reach the model", async () => {
    world.script(() => ({ text: '{"n":1}' }));
    await openai().chat.completions.create({
      ...hello,
      temperature: 0.5,
      max_completion_tokens: 99,
      stop: ["END"],
    });
    const schema = {
      type: "object",
      properties: { n: { type: "number" } },
      required: ["n"],
      additionalProperties: false,
    } as const;
    const output = Output.object({ schema: jsonSchema(schema) });
    expect((await generateText({ model: vercel()(MODEL), prompt: "count", output })).output).toEqual({
      n: 1,
    });
    const [sampled, structured] = modelRequests(world.anthropic);
    expect(sampled?.body).toMatchObject({ temperature: 0.5, max_tokens: 99, stop_sequences: ["END"] });
    expect(structured?.body).toMatchObject({ output_config: { format: { type: "json_schema", schema } } });
    expect(structured?.volatile).toContain(JSON.stringify(schema));
  });

  it("shows the model the images of the message", async () => {
    world.script(() => ({ text: "a dot" }));
    const image = { type: "image_url" as const, image_url: { url: PIXEL } };
    const text = { type: "text" as const, text: "what is it?" };
    await openai().chat.completions.create({
      model: MODEL,
      messages: [{ role: "user", content: [text, image] }],
    });
    const [request] = modelRequests(world.anthropic);
    const blocks = request?.body.messages.at(-1)?.content;
    expect(blocks).toContainEqual(
      expect.objectContaining({
        type: "image",
        source: expect.objectContaining({ media_type: "image/png", data: PIXEL.split(",")[1] }),
      }),
    );
  });

  it("shows a large image after a kill, and stores it outside the database", async () => {
    await started.stop();
    world.script((_, index) =>
      index === 0 ? { text: "never ends", fault: { kind: "stall", afterEvents: 1 } } : { text: "a dot" },
    );
    const asking = { model: MODEL, messages: [{ role: "user" as const, content: [largePicture] }] };
    const headers = { "Idempotency-Key": "a-dot" };
    const first = await world.startChild();
    const asked = refusal(() =>
      clientOf(first, { maxRetries: 0 }).chat.completions.create(asking, { headers }),
    );
    await expect.poll(() => world.anthropic.requests.length).toBe(1);
    await first.end("SIGKILL");
    await asked;
    const [row] = await inboxRows(world);
    expect(JSON.stringify(row?.payload).length).toBeLessThan(5_000);
    started = await world.start();
    const answer = await openai().chat.completions.create(asking, { headers });
    expect(answer.choices[0]?.message.content).toBe("a dot");
    const [, request] = world.anthropic.requests;
    // The whole of it would be printed where it is not there.
    expect(JSON.stringify(request?.body).includes(LARGE)).toBe(true);
    expect(await inboxRows(world)).toHaveLength(1);
  });

  it("removes a large image after its message was answered, but not at a stop before", async () => {
    await startImpatient();
    const carried = () => readdirSync(join(world.home.mediaDir, "carried"));
    const ask = (key: string) =>
      openai({ maxRetries: 0 }).chat.completions.create(
        { model: MODEL, messages: [{ role: "user", content: [largePicture] }] },
        { headers: { "Idempotency-Key": key } },
      );
    world.script((_, index) =>
      index === 1 ? { text: "never ends", fault: { kind: "stall", afterEvents: 1 } } : { text: "a dot" },
    );
    await ask("one");
    await expect.poll(carried).toEqual([]);
    await ask("one");
    expect(carried()).toEqual([]);
    const stopped = refusal(() => ask("two"));
    await expect.poll(() => world.anthropic.requests.length).toBe(2);
    await started.stop();
    await stopped;
    expect(carried()).toHaveLength(1);
  });

  it.each([
    ["a large picture", { model: MODEL, messages: [{ role: "user" as const, content: [largePicture] }] }],
    ["one of an earlier message", asking(largePicture)],
  ])(
    "keeps %s for as long as its message waits, though the gateway was down for days",
    async (_, request) => {
      await startImpatient();
      const dir = join(world.home.mediaDir, "carried");
      world.script((_, index) =>
        index === 0 ? { text: "never ends", fault: { kind: "stall", afterEvents: 1 } } : { text: "a dot" },
      );
      const stopped = refusal(() => openai({ maxRetries: 0 }).chat.completions.create(request));
      await expect.poll(() => world.anthropic.requests.length).toBe(1);
      await started.stop();
      await stopped;
      for (const file of readdirSync(dir, { recursive: true, encoding: "utf8" }))
        utimesSync(join(dir, file), 1, 1);
      expect((await world.command(["maintenance", "prune"])).code).toBe(0);
      started = await world.start();
      await started.settled();
      // The whole of it would be printed where it is not there.
      expect(JSON.stringify(world.anthropic.requests[1]?.body).includes(LARGE)).toBe(true);
      await started.gateway.service.prune();
      expect(readdirSync(dir)).toEqual([]);
    },
  );

  it("continues after an answer that Vercel's client only refers to", async () => {
    world.script([{ text: "My name is Ada." }, { text: "Ada, as I said." }]);
    const first = await generateText({ model: vercel()(MODEL), prompt: "Who are you?" });
    const second = await generateText({
      model: vercel()(MODEL),
      messages: [
        { role: "user", content: "Who are you?" },
        ...first.response.messages,
        { role: "user", content: "/who again?" },
      ],
    });
    expect(second.text).toBe("Ada, as I said.");
    const [, request] = modelRequests(world.anthropic);
    expect(request?.messages.map(({ role, text }) => [role, text.split("\n").at(-1)])).toEqual([
      ["user", "Who are you?"],
      ["assistant", "My name is Ada."],
      ["user", "/who again?"],
    ]);
  });
});

describe("a failed turn", () => {
  it.each([
    [{ status: 400, message: "messages: roles must alternate" }, 400, "invalid"],
    [
      { status: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" },
      400,
      "context_length_exceeded",
    ],
    [{ status: 401, message: "no such key" }, 403, "auth"],
  ] satisfies [ScriptedTurn["error"], number, string][])("by %j is a %i", async (error, status, code) => {
    world.script(() => ({ error }));
    expect(await refusal(() => openai({ maxRetries: 2 }).chat.completions.create(hello))).toMatchObject({
      status,
      code,
    });
    // No client has asked again: one message was taken.
    expect(await inboxRows(world)).toHaveLength(1);
    const failed = await generateText({ model: vercel()(MODEL), prompt: "x" }).catch(
      (cause: unknown) => cause,
    );
    expect(RetryError.isInstance(failed)).toBe(false);
    expect(APICallError.isInstance(failed) && failed.isRetryable).toBe(false);
    expect(await inboxRows(world)).toHaveLength(2);
  });

  it("leaves no partial answer in the history that no client has seen", async () => {
    const cut: ScriptedTurn = { text: "one and two and three", fault: { kind: "cut", afterEvents: 4 } };
    let broken = true;
    world.script(() => (broken ? cut : { text: "all well" }));
    const asked = { ...hello, user: "anna" };
    expect(await refusal(() => openai().chat.completions.create(asked))).toMatchObject({ status: 502 });
    broken = false;
    await openai().chat.completions.create(asked);
    const last = modelRequests(world.anthropic).at(-1);
    expect(last?.messages.filter(({ role }) => role === "assistant")).toEqual([]);
  });
});
