import type OpenAI from "openai";
import { AuthenticationError, NotFoundError } from "openai";
import { beforeEach, describe, expect, it } from "vitest";
import {
  eventually,
  exampleConfig,
  inboxRows,
  openWorld,
  type Started,
  type World,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { clientOf, refusal } from "../support/openai-client.ts";
import { openAiSpec } from "../support/openai-spec.ts";

const model = "signalbox/coder";
const spec = openAiSpec();

let world: World;
let started: Started;
let client: OpenAI;

describe("/v1/responses", () => {
  beforeEach(async () => {
    world = await openWorld();
    world.configure(exampleConfig({ channels: {} }));
    started = await world.start();
    client = clientOf(started);
  });

  it("answers in the format of the vendor's API document and SDK", async () => {
    world.script([
      { toolCalls: [{ name: "ls", input: {} }], usage: { input: 100, output: 10 } },
      { text: "Nothing is there.", usage: { input: 200, output: 20, cacheRead: 50 } },
    ]);
    const response = await client.responses.create({
      model,
      input: "what is there?",
      instructions: "Be brief.",
      metadata: { ticket: "7" },
    });
    expect(response.output_text).toBe("Nothing is there.");
    expect(response).toMatchObject({
      object: "response",
      status: "completed",
      model,
      instructions: "Be brief.",
      metadata: { ticket: "7" },
      usage: {
        input_tokens: 350,
        input_tokens_details: { cached_tokens: 50 },
        output_tokens: 30,
        total_tokens: 380,
      },
    });
    const { output_text: _, ...wire } = response;
    expect(spec?.response(wire) ?? []).toEqual([]);
    const [request] = modelRequests(world.anthropic);
    expect(request?.messages.at(-1)?.text).toMatch(/what is there\?$/);
    expect(request?.volatile).toContain("Be brief.");
  });

  it("streams the same text as an unstreamed response, in events of the vendor's API document", async () => {
    const text = "Ein längerer Satz, 一个更长的句子 😀, cut into many pieces. ".repeat(5).trim();
    world.script([
      { text: "Let me look.", toolCalls: [{ name: "ls", input: {} }] },
      { text, chunks: 30, deltaMs: 2, usage: { input: 10, output: 5 } },
      { text: "Let me look.", toolCalls: [{ name: "ls", input: {} }] },
      { text },
    ]);
    const events = [];
    for await (const event of await client.responses.create({ model, input: "tell", stream: true }))
      events.push(event);
    const whole = await client.responses.create({ model, input: "tell" });
    const deltas = events.flatMap((event) =>
      event.type === "response.output_text.delta" ? [event.delta] : [],
    );
    expect(deltas.join("")).toBe(whole.output_text);
    expect(deltas.length).toBeGreaterThan(10);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.map(({ type }) => type).filter((type) => type !== "response.output_text.delta")).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    for (const event of events) expect(spec?.event(event) ?? []).toEqual([]);
    world.script(() => ({ text: "again" }));
    const final = await client.responses.stream({ model, input: "once more" }).finalResponse();
    expect(final.output_text).toBe("again");
  });

  it("uses the items of a client that stores its conversation itself", async () => {
    world.script((_, index) => ({ text: `answer ${index}` }));
    const first = await client.responses.create({ model, input: "My name is Anna." });
    const kept = first.output.flatMap((one) => (one.type === "message" ? [one] : []));
    await client.responses.create({
      model,
      input: [
        { role: "system", content: "Answer in rhymes." },
        { role: "user", content: "My name is Anna." },
        ...kept,
        { role: "user", content: [{ type: "input_text", text: "What is my name?" }] },
      ],
    });
    const request = modelRequests(world.anthropic)[1];
    expect(request?.messages.slice(0, 2)).toEqual([
      { role: "user", text: "My name is Anna." },
      { role: "assistant", text: "answer 0" },
    ]);
    expect(request?.messages[2]?.text).toMatch(/What is my name\?$/);
    expect(request?.volatile).toContain("Answer in rhymes.");
  });

  it("keeps the conversation of a named user, the same as that of chat completions", async () => {
    world.script((_, index) => ({ text: `answer ${index}` }));
    await client.responses.create({ model, input: "first", user: "anna" });
    await client.chat.completions.create({
      model,
      user: "anna",
      messages: [{ role: "user", content: "second" }],
    });
    await client.responses.create({ model, input: "third", user: "anna" });
    expect(modelRequests(world.anthropic)[2]?.messages.map(({ role }) => role)).toEqual([
      ...["user", "assistant", "user", "assistant", "user"],
    ]);
  });

  it("rejects unsupported options before anything is stored", async () => {
    const cases: readonly (readonly [object, string])[] = [
      [{ input: "x", previous_response_id: "resp_1" }, "previous_response_id"],
      [{ input: "x", conversation: "conv_1" }, "conversation"],
      [{ input: "x", background: true }, "background"],
      [{ input: "x", tools: [{ type: "web_search" }] }, "tools"],
      [{ input: "x", text: { format: { type: "grammar" } } }, "text.format"],
      [{ input: "x", text: { verbosity: "low" } }, "verbosity"],
      [{ input: "x", truncation: "auto" }, "truncation"],
      [{ input: "x", top_p: 1.5 }, "top_p"],
      [{ input: "" }, "input"],
      [{ input: [] }, "input"],
      [{}, "input"],
      [{ input: [{ role: "assistant", content: "I" }] }, "input"],
      [{ input: [{ type: "item_reference", id: "msg_1" }] }, "input[0]"],
      [
        { input: [{ role: "user", content: [{ type: "input_image", image_url: "data:" }] }] },
        "input[0].content[0]",
      ],
    ];
    for (const [body, param] of cases)
      expect(await refusal(() => client.post("/responses", { body: { model, ...body } }))).toMatchObject({
        status: 400,
        param,
      });
    expect(await refusal(() => client.responses.create({ model: "nobody", input: "x" }))).toBeInstanceOf(
      NotFoundError,
    );
    const stranger = clientOf(started, { apiKey: "wrong" });
    expect(await refusal(() => stranger.responses.create({ model, input: "x" }))).toBeInstanceOf(
      AuthenticationError,
    );
    expect(world.anthropic.requests).toEqual([]);
    expect(await inboxRows(world)).toEqual([]);
  });

  it("returns an error if the model fails, and marks a cut text as incomplete", async () => {
    world.script((_, index) =>
      index < 2
        ? { error: { status: 401, message: "no such key" } }
        : { text: "half a sen", stopReason: "max_tokens" },
    );
    expect(await refusal(() => client.responses.create({ model, input: "hi" }))).toMatchObject({
      status: 403,
      code: "auth",
    });
    const events = [];
    for await (const event of await client.responses.create({ model, input: "hi", stream: true }))
      events.push(event);
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "server_error" } },
    });
    for (const event of events) expect(spec?.event(event) ?? []).toEqual([]);
    const cut = await client.responses.create({ model, input: "tell" });
    expect(cut).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
    expect(cut.output_text).toContain("half a sen");
  });

  it("reports a refusal as incomplete because of content_filter", async () => {
    world.script(() => ({ text: "I cannot help with that.", stopReason: "refusal" }));
    const refused = await client.responses.create({ model, input: "do harm" });
    expect(refused).toMatchObject({ status: "incomplete", incomplete_details: { reason: "content_filter" } });
    expect(spec?.response(refused) ?? []).toEqual([]);
  });

  it("stops the run when a client without a conversation leaves", async () => {
    world.script([
      { text: "a long story ".repeat(200), chunks: 40, fault: { kind: "stall", afterEvents: 20 } },
    ]);
    const stream = await client.responses.create({ model, input: "tell", stream: true });
    for await (const event of stream) if (event.type === "response.output_text.delta") break;
    stream.controller.abort();
    await eventually(async () => {
      const [row] = await inboxRows(world);
      return row?.state === "silent" && row.detail?.rule === "stopped";
    }, "the run stops");
  });
});
