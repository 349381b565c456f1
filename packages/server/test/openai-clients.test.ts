import { APICallError, generateText, jsonSchema, Output, RetryError, streamText } from "ai";
import { describe, expect, it } from "vitest";
import type { Outcome } from "../src/index.ts";
import { createMemoryService } from "./memory-service.ts";
import { hello, MODEL, open, refusal, said } from "./openai-harness.ts";

function failure(code: string, retryAfterMs?: number): Outcome {
  const error = {
    code,
    message: `failed with ${code}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
  return { state: "failed", text: "", error };
}

describe("a retried request", () => {
  it("continues the run of the first attempt after a client's timeout", async () => {
    const { service, openai } = await open(createMemoryService());
    // On a busy machine, later attempts may time out too.
    const answer = openai({ maxRetries: 20, timeout: 1_000 }).chat.completions.create(hello);
    // Answer only after the client has given up the first attempt.
    await expect.poll(() => service.attempts.length).toBeGreaterThan(1);
    const [id] = service.attempts;
    service.end(id ?? "", said("hi"));
    expect((await answer).choices[0]?.message.content).toBe("hi");
    expect(service.submissions).toHaveLength(1);
    expect(service.stopped).toEqual([]);
  });

  it("is deduplicated by its Idempotency-Key and refused if its content differs", async () => {
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
    // The id of the response is the message id, which `why` accepts.
    expect(first.id).toBe(service.submissions[0]?.id);
    const other = { ...hello, messages: [{ role: "user" as const, content: "something else" }] };
    expect(await refusal(() => openai().chat.completions.create(other, { headers }))).toMatchObject({
      status: 422,
      code: "idempotency_key_reused",
    });
  });

  it("is deduplicated by its Idempotency-Key from Vercel's client", async () => {
    const { service, vercel } = await open();
    const headers = { "Idempotency-Key": "order-67" };
    for (const model of [vercel.chat(MODEL), vercel.responses(MODEL)]) {
      const ask = () => generateText({ model, prompt: "hello", headers });
      expect([(await ask()).text, (await ask()).text]).toEqual(["hi", "hi"]);
    }
    expect(service.submissions).toHaveLength(2);
  });

  it("is a new message if nothing marks it as a retry", async () => {
    const { service, openai } = await open();
    await openai().chat.completions.create(hello);
    await openai().chat.completions.create(hello);
    expect(new Set(service.submissions.map(({ id }) => id)).size).toBe(2);
  });
});

describe("request parameters", () => {
  it("are passed to the model", async () => {
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
  ])("are refused by name if they are not supported: %j", async (extra, param) => {
    const { service, openai } = await open();
    expect(await refusal(() => openai().chat.completions.create({ ...hello, ...extra }))).toMatchObject({
      status: 400,
      param,
    });
    expect(service.submissions).toEqual([]);
  });

  it("are accepted with their default values", async () => {
    const { openai } = await open();
    const plain = { top_p: 1, n: 1, logprobs: false, presence_penalty: 0, tools: [], store: true };
    expect((await openai().chat.completions.create({ ...hello, ...plain })).choices).toHaveLength(1);
  });
});

describe("request messages", () => {
  const dot = "data:image/png;base64,AAEC";

  it("accept embedded and linked images", async () => {
    const { service, openai, vercel } = await open();
    const url = "https://images.example/dot.png";
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

  it("keep embedded images of earlier messages and refuse other attachments", async () => {
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
    // Additional fields cannot refer to files that the gateway stores.
    const ref = { owner: "message m1", id: "image-of-another-user" };
    await ask({ type: "image_url", image_url: { url: dot, ref }, ref });
    expect(service.submissions[0]?.history?.[0]).toEqual({
      role: "user",
      text: "look",
      images: [{ mimeType: "image/png", data: "AAEC" }],
    });
    const elsewhere = { type: "image_url", image_url: { url: "https://images.example/dot.png" } };
    const file = { type: "file", file: { file_data: "data:application/pdf;base64,AAEC", filename: "a.pdf" } };
    for (const part of [elsewhere, file])
      expect(await refusal(() => ask(part))).toMatchObject({ status: 400, param: "messages[0]" });
    // With `user`, the gateway ignores the client's copy of the history.
    await ask(file, { user: "anna" });
    expect(service.submissions[1]?.history).toBeUndefined();
  });

  it("resolve references to earlier answers and read refusals as text", async () => {
    const { service, openai } = await open();
    const first = await openai().responses.create({ model: MODEL, input: "hello" });
    const [item] = first.output;
    if (item === undefined) throw new Error("the response has no output");
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

  it("support a second request of Vercel's client, which references the first answer", async () => {
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

  it("are read as chat commands only with user", async () => {
    const { service, openai } = await open();
    const slash = { model: MODEL, messages: [{ role: "user" as const, content: "/new order" }] };
    await openai().chat.completions.create(slash);
    await openai().chat.completions.create({ ...slash, user: "anna" });
    expect(service.submissions.map(({ verbatim }) => verbatim)).toEqual([true, undefined]);
  });
});

describe("a failed run", () => {
  it.each([
    ["invalid", 400, "invalid"],
    ["overflow", 400, "context_length_exceeded"],
    ["filter", 400, "content_filter"],
    ["rate_limit", 429, "rate_limit_exceeded"],
    ["auth", 403, "auth"],
    ["billing", 403, "billing"],
    ["budget", 429, "insufficient_quota"],
    ["no_model", 404, "model_not_found"],
    ["overloaded", 503, "overloaded"],
    ["timeout", 504, "timeout"],
    ["something new", 502, "something new"],
  ])("with the code %s is reported as %i %s", async (code, status, openAiCode) => {
    const { openai } = await open(createMemoryService(() => failure(code)));
    const error = await refusal(() => openai().chat.completions.create(hello));
    expect(error).toMatchObject({ status, code: openAiCode });
    expect(error.error).toMatchObject({ message: expect.stringContaining(`failed with ${code}`) });
    const responsesError = await refusal(() => openai().responses.create({ model: MODEL, input: "hello" }));
    expect(responsesError).toMatchObject({ status, code: openAiCode });
  });

  it("says whose key was rejected, and who can change that", async () => {
    const { openai } = await open(createMemoryService(() => failure("auth")));
    const error = await refusal(() => openai().chat.completions.create(hello));
    expect(error.error).toMatchObject({
      message:
        "The model provider rejected the gateway's API key (your own token is valid): failed with auth. The operator of the gateway has to check `apiKey` under `models.providers`.",
    });
  });

  it("is retried by OpenAI's client only if it is retryable, after the vendor's delay", async () => {
    for (const [code, tries] of [
      ["rate_limit", 2],
      ["auth", 1],
      ["budget", 1],
      ["invalid", 1],
      ["internal", 1],
    ] as const) {
      const { service, openai } = await open(createMemoryService(() => failure(code, 1)));
      const error = await refusal(() => openai({ maxRetries: 1 }).chat.completions.create(hello));
      expect([code, service.submissions.length]).toEqual([code, tries]);
      expect(error.headers?.get("retry-after")).toBe(code === "rate_limit" ? "1" : null);
    }
  });

  it("is not retried by Vercel's client if it is not retryable", async () => {
    const { service, vercel } = await open(createMemoryService(() => failure("overflow")));
    const error = await generateText({ model: vercel(MODEL), prompt: "hello" }).catch(
      (cause: unknown) => cause,
    );
    expect(RetryError.isInstance(error)).toBe(false);
    expect(APICallError.isInstance(error) && [error.statusCode, error.isRetryable]).toEqual([400, false]);
    expect(service.submissions).toHaveLength(1);
  });

  it("is not retried after it was stopped", async () => {
    const { service, openai } = await open(createMemoryService(() => ({ state: "aborted", text: "" })));
    const error = await refusal(() => openai({ maxRetries: 2 }).chat.completions.create(hello));
    expect(error).toMatchObject({ status: 400, code: "aborted" });
    expect(service.submissions).toHaveLength(1);
  });
});
