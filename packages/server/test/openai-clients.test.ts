import { APICallError, generateText, jsonSchema, Output, RetryError, streamText } from "ai";
import { describe, expect, it } from "vitest";
import type { Outcome } from "../src/index.ts";
import { createMemoryService } from "./memory-service.ts";
import { hello, MODEL, open, refusal, said } from "./openai-harness.ts";

function failure(code: string, retryAfterMs?: number): Outcome {
  const error = {
    code,
    message: `it failed: ${code}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
  return { state: "failed", text: "", error };
}

describe("a request that is repeated", () => {
  it("makes no second turn after a client's own time-out, and gets the answer of the first", async () => {
    const { service, openai } = await open(createMemoryService());
    // Many attempts: on a busy machine others than the first may be given up, too.
    const answer = openai({ maxRetries: 20, timeout: 1_000 }).chat.completions.create(hello);
    // It is answered only once the client has given up the first attempt.
    await expect.poll(() => service.attempts.length).toBeGreaterThan(1);
    const [id] = service.attempts;
    service.end(id ?? "", said("hi"));
    expect((await answer).choices[0]?.message.content).toBe("hi");
    expect(service.submissions).toHaveLength(1);
    expect(service.stopped).toEqual([]);
  });

  it("is the same message under the same Idempotency-Key, whole or streaming, and refused with another text", async () => {
    const { service, openai } = await open();
    const keyed = { headers: { "Idempotency-Key": "order 66" } };
    const bad = await refusal(() => openai().chat.completions.create(hello, keyed));
    expect(bad).toMatchObject({ status: 400, param: "Idempotency-Key" });
    const headers = { "Idempotency-Key": "order-66" };
    const first = await openai().chat.completions.create(hello, { headers });
    const again = await openai().chat.completions.create(hello, { headers });
    expect([again.id, again.choices]).toEqual([first.id, first.choices]);
    let streamed = "";
    for await (const { choices } of await openai().chat.completions.create(
      { ...hello, stream: true },
      { headers },
    ))
      streamed += choices[0]?.delta.content ?? "";
    expect(streamed).toBe("hi");
    expect(service.submissions).toHaveLength(1);
    // The id of the answer is that of the message, by which it is explained.
    expect(first.id).toBe(service.submissions[0]?.id);
    const other = { ...hello, messages: [{ role: "user" as const, content: "something else" }] };
    expect(await refusal(() => openai().chat.completions.create(other, { headers }))).toMatchObject({
      status: 422,
      code: "idempotency_key_reused",
    });
  });

  it("is known by its key from Vercel's client, too", async () => {
    const { service, vercel } = await open();
    const headers = { "Idempotency-Key": "order-67" };
    for (const model of [vercel.chat(MODEL), vercel.responses(MODEL)]) {
      const ask = () => generateText({ model, prompt: "hello", headers });
      expect([(await ask()).text, (await ask()).text]).toEqual(["hi", "hi"]);
    }
    expect(service.submissions).toHaveLength(2);
  });

  it("is another message where nothing says that it is a repetition", async () => {
    const { service, openai } = await open();
    await openai().chat.completions.create(hello);
    await openai().chat.completions.create(hello);
    expect(new Set(service.submissions.map(({ id }) => id)).size).toBe(2);
  });
});

describe("parameters of a request", () => {
  it("passes on what changes the answer", async () => {
    const { service, openai, vercel } = await open(createMemoryService(() => said('{"n":1}')));
    await openai().chat.completions.create({
      ...hello,
      temperature: 0.5,
      max_completion_tokens: 99,
      stop: ["END"],
      top_p: 0.9,
      seed: 7,
      response_format: { type: "json_object" },
    });
    await openai().responses.create({
      model: MODEL,
      input: "hello",
      max_output_tokens: 9,
      temperature: 0,
      top_p: 0.5,
    });
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
    const { output } = await generateText({
      model: vercel(MODEL),
      prompt: "hello",
      output: Output.object({ schema: jsonSchema(schema) }),
    });
    expect(output).toEqual({ n: 1 });
    const [chat, responses, structured] = service.submissions.map(({ sampling }) => sampling);
    expect(chat).toEqual({
      temperature: 0.5,
      maxOutputTokens: 99,
      stopSequences: ["END"],
      topP: 0.9,
      seed: 7,
      json: { name: "answer" },
    });
    expect(responses).toEqual({ temperature: 0, maxOutputTokens: 9, topP: 0.5 });
    expect(structured?.json).toMatchObject({ schema });
  });

  it.each([
    [{ logprobs: true }, "logprobs"],
    [{ presence_penalty: 1 }, "presence_penalty"],
    [{ logit_bias: { 1: 2 } }, "logit_bias"],
    [{ n: 2 }, "n"],
    [{ reasoning_effort: "high" as const }, "reasoning_effort"],
    [
      { messages: [...hello.messages, { role: "tool" as const, content: "x", tool_call_id: "c" }] },
      "messages[1]",
    ],
  ])("refuses by name what it would ignore: %j", async (extra, param) => {
    const { service, openai } = await open();
    expect(await refusal(() => openai().chat.completions.create({ ...hello, ...extra }))).toMatchObject({
      status: 400,
      param,
    });
    expect(service.submissions).toEqual([]);
  });

  it("takes what is only the default said aloud", async () => {
    const { openai } = await open();
    const plain = { top_p: 1, n: 1, logprobs: false, presence_penalty: 0, tools: [], store: true };
    expect((await openai().chat.completions.create({ ...hello, ...plain })).choices).toHaveLength(1);
  });
});

describe("messages of a request", () => {
  const dot = "data:image/png;base64,AAEC";

  it("takes pictures, in the request or by their address", async () => {
    const { service, openai, vercel } = await open();
    const url = "https://pictures.example/dot.png";
    await openai().chat.completions.create({
      model: MODEL,
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
    });
    const content = [
      { type: "text" as const, text: "what is it?" },
      { type: "file" as const, data: new Uint8Array([0, 1, 2]), mediaType: "image/png" },
    ];
    await generateText({ model: vercel(MODEL), messages: [{ role: "user", content }] });
    expect(service.submissions.map(({ text, attachments }) => [text, attachments])).toEqual([
      ["", [{ kind: "image", url }]],
      ["what is it?", [{ kind: "image", url: dot }]],
    ]);
  });

  it("tells pictures of earlier messages again, and refuses by name what it cannot", async () => {
    const { service, openai } = await open();
    const earlier = (part: object) => ({
      model: MODEL,
      messages: [
        { role: "user", content: [{ type: "text", text: "look" }, part] },
        { role: "assistant", content: "a dot" },
        { role: "user", content: "and its colour?" },
      ],
    });
    const ask = (part: object, more: object = {}) =>
      openai().post("/chat/completions", { body: { ...earlier(part), ...more } });
    // Nothing that a client writes beside it names a file that is kept here.
    const ref = { owner: "message m1", id: "a-picture-of-others" };
    await ask({ type: "image_url", image_url: { url: dot, ref }, ref });
    expect(service.submissions[0]?.history?.[0]).toEqual({
      role: "user",
      text: "look",
      pictures: [{ mimeType: "image/png", data: "AAEC" }],
    });
    const elsewhere = { type: "image_url", image_url: { url: "https://pictures.example/dot.png" } };
    const file = { type: "file", file: { file_data: "data:application/pdf;base64,AAEC", filename: "a.pdf" } };
    for (const part of [elsewhere, file])
      expect(await refusal(() => ask(part))).toMatchObject({ status: 400, param: "messages[0]" });
    // Of a conversation that is kept, the client's copy counts for nothing.
    await ask(file, { user: "anna" });
    expect(service.submissions[1]?.history).toBeUndefined();
  });

  it("knows an answer that a client refers to, and one that was a refusal", async () => {
    const { service, openai } = await open();
    const first = await openai().responses.create({ model: MODEL, input: "hello" });
    const [item] = first.output;
    if (item === undefined) throw new Error("one item");
    await openai().post("/responses", {
      body: {
        model: MODEL,
        input: [
          { role: "user", content: "hello" },
          { type: "item_reference", id: item.id },
          { role: "assistant", content: [{ type: "refusal", refusal: "I will not." }] },
          { role: "user", content: "again" },
        ],
      },
    });
    expect(service.submissions[1]?.history).toEqual([
      { role: "user", text: "hello" },
      { role: "assistant", text: "hi" },
      { role: "assistant", text: "I will not." },
    ]);
    const unknown = [
      { type: "item_reference", id: "msg_0" },
      { role: "user", content: "x" },
    ];
    expect(
      await refusal(() => openai().post("/responses", { body: { model: MODEL, input: unknown } })),
    ).toMatchObject({ status: 400, param: "input[0]" });
  });

  it("goes on in a second turn of Vercel's client, which refers to what it believes to be kept", async () => {
    const { service, vercel } = await open();
    const first = await generateText({ model: vercel(MODEL), prompt: "hello" });
    const second = streamText({
      model: vercel(MODEL),
      messages: [
        { role: "user", content: "hello" },
        ...first.response.messages,
        { role: "user", content: "and now?" },
      ],
    });
    expect(await second.text).toBe("hi");
    expect(service.submissions[1]).toMatchObject({
      text: "and now?",
      history: [
        { role: "user", text: "hello" },
        { role: "assistant", text: "hi" },
      ],
    });
  });

  it("takes a slash for a command only in a conversation that the gateway keeps", async () => {
    const { service, openai } = await open();
    const slash = { model: MODEL, messages: [{ role: "user" as const, content: "/new order" }] };
    await openai().chat.completions.create(slash);
    await openai().chat.completions.create({ ...slash, user: "anna" });
    expect(service.submissions.map(({ verbatim }) => verbatim)).toEqual([true, undefined]);
  });
});

describe("a turn that failed", () => {
  it.each([
    ["invalid", 400, "invalid"],
    ["overflow", 400, "context_length_exceeded"],
    ["filter", 400, "content_filter"],
    ["rate_limit", 429, "rate_limit_exceeded"],
    ["auth", 403, "auth"],
    ["billing", 403, "billing"],
    ["no_model", 404, "model_not_found"],
    ["overloaded", 503, "overloaded"],
    ["timeout", 504, "timeout"],
    ["something new", 502, "something new"],
  ])("by %s is a %i with the code %s", async (code, status, told) => {
    const { openai } = await open(createMemoryService(() => failure(code)));
    const error = await refusal(() => openai().chat.completions.create(hello));
    expect(error).toMatchObject({ status, code: told, error: { message: `it failed: ${code}` } });
    const same = await refusal(() => openai().responses.create({ model: MODEL, input: "hello" }));
    expect(same).toMatchObject({ status, code: told });
  });

  it("is tried again by its client where that may help, after as long as the vendor asks, and nowhere else", async () => {
    for (const [code, tries] of [
      ["rate_limit", 2],
      ["auth", 1],
      ["invalid", 1],
      ["internal", 1],
    ] as const) {
      const { service, openai } = await open(createMemoryService(() => failure(code, 1)));
      const error = await refusal(() => openai({ maxRetries: 1 }).chat.completions.create(hello));
      expect([code, service.submissions.length]).toEqual([code, tries]);
      expect(error.headers?.get("retry-after")).toBe(code === "rate_limit" ? "1" : null);
    }
  });

  it("is one that Vercel's client knows not to repeat", async () => {
    const { service, vercel } = await open(createMemoryService(() => failure("overflow")));
    const error = await generateText({ model: vercel(MODEL), prompt: "hello" }).catch(
      (cause: unknown) => cause,
    );
    expect(RetryError.isInstance(error)).toBe(false);
    expect(APICallError.isInstance(error) && [error.statusCode, error.isRetryable]).toEqual([400, false]);
    expect(service.submissions).toHaveLength(1);
  });

  it("is not repeated where somebody stopped it", async () => {
    const { service, openai } = await open(createMemoryService(() => ({ state: "aborted", text: "" })));
    const error = await refusal(() => openai({ maxRetries: 2 }).chat.completions.create(hello));
    expect(error).toMatchObject({ status: 400, code: "aborted" });
    expect(service.submissions).toHaveLength(1);
  });
});
