import Anthropic from "@anthropic-ai/sdk";
import { afterEach, describe, expect, it } from "vitest";
import { type AnthropicOptions, type FakeAnthropic, startAnthropic } from "../src/anthropic/index.ts";

let running: FakeAnthropic | undefined;
afterEach(() => running?.stop());

async function connect(options: AnthropicOptions): Promise<Anthropic> {
  running = await startAnthropic(options);
  return new Anthropic({ apiKey: "k", baseURL: running.url, maxRetries: 0, logLevel: "off" });
}

type Body = Anthropic.MessageCreateParamsNonStreaming;
const hello: Anthropic.MessageParam = { role: "user", content: "Hello." };
const base: Body = { model: "claude-sonnet-4-6", max_tokens: 2_048, messages: [hello] };
const tool: Anthropic.Tool = { name: "ls", input_schema: { type: "object" } };
const use = (id: string): Anthropic.ContentBlockParam => ({ type: "tool_use", id, name: "ls", input: {} });
const answer = (id: string): Anthropic.ContentBlockParam => ({
  type: "tool_result",
  tool_use_id: id,
  content: "ok",
});

describe("the Anthropic fake server", () => {
  it("streams a scripted turn to the vendor's own SDK", async () => {
    const client = await connect({
      script: [
        {
          thinking: "想想",
          text: "Hello 👩‍🚀, 世界",
          toolCalls: [{ name: "ls", input: { path: "ä" } }],
          usage: { input: 7, output: 9, cacheRead: 3, cacheWrite: 2 },
        },
      ],
    });
    const message = await client.messages.stream({ ...base, tools: [tool] }).finalMessage();
    expect(message.content).toMatchObject([
      { type: "thinking", thinking: "想想" },
      { type: "text", text: "Hello 👩‍🚀, 世界" },
      { type: "tool_use", name: "ls", input: { path: "ä" } },
    ]);
    expect(message.stop_reason).toBe("tool_use");
    expect(message.usage).toMatchObject({
      input_tokens: 7,
      output_tokens: 9,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 2,
    });
    expect(running?.requests).toMatchObject([{ method: "POST", path: "/v1/messages", status: 200 }]);
  });

  it("answers whole where no stream was asked for, and from a function of the request", async () => {
    const client = await connect({ script: (_, index) => ({ text: `turn ${index}` }) });
    await client.messages.create(base);
    expect((await client.messages.create(base)).content).toEqual([{ type: "text", text: "turn 1" }]);
  });

  it.each<[string, Partial<Body>, RegExp]>([
    ["no messages", { messages: [] }, /at least one message/],
    [
      "an assistant first",
      { messages: [{ role: "assistant", content: "hi" }, hello] },
      /first message must use the/,
    ],
    [
      "empty text",
      { messages: [{ role: "user", content: [{ type: "text", text: "" }] }] },
      /must be non-empty/,
    ],
    ["blank text", { messages: [{ role: "user", content: " " }] }, /non-whitespace/],
    [
      "a call without its result",
      { tools: [tool], messages: [hello, { role: "assistant", content: [use("a")] }, hello] },
      /without `tool_result` blocks immediately after: a/,
    ],
    [
      "a result without its call",
      { tools: [tool], messages: [{ role: "user", content: [answer("b")] }] },
      /unexpected `tool_use_id` found in `tool_result` blocks: b/,
    ],
    [
      "two results for a call",
      {
        tools: [tool],
        messages: [
          hello,
          { role: "assistant", content: [use("a")] },
          { role: "user", content: [answer("a"), answer("a")] },
        ],
      },
      /single result/,
    ],
    [
      "an id used twice",
      {
        tools: [tool],
        messages: [
          hello,
          { role: "assistant", content: [use("a")] },
          { role: "user", content: [answer("a")] },
          { role: "assistant", content: [use("a")] },
          { role: "user", content: [answer("a")] },
        ],
      },
      /ids must be unique/,
    ],
    [
      "calls without tools",
      {
        messages: [
          hello,
          { role: "assistant", content: [use("a")] },
          { role: "user", content: [answer("a")] },
        ],
      },
      /must define tools/,
    ],
    ["two tools of a name", { tools: [tool, tool] }, /Tool names must be unique/],
    ["a choice without tools", { tool_choice: { type: "any" } }, /tool_choice/],
    [
      "a choice of an unknown tool",
      { tools: [tool], tool_choice: { type: "tool", name: "x" } },
      /not found in provided tools/,
    ],
    [
      "a budget over max_tokens",
      { thinking: { type: "enabled", budget_tokens: 2_048 } },
      /`max_tokens` must be greater than/,
    ],
    [
      "too small a budget",
      { thinking: { type: "enabled", budget_tokens: 100 } },
      /greater than or equal to 1024/,
    ],
    [
      "thinking and a forced tool",
      { tools: [tool], thinking: { type: "adaptive" }, tool_choice: { type: "any" } },
      /forces tool use/,
    ],
    [
      "trailing blanks in a prefill",
      { messages: [hello, { role: "assistant", content: "So " }] },
      /trailing whitespace/,
    ],
    [
      "more than four breakpoints",
      {
        system: Array.from({ length: 5 }, () => ({
          type: "text",
          text: "s",
          cache_control: { type: "ephemeral" },
        })),
      },
      /maximum of 4 blocks with cache_control may be provided. Found 5/,
    ],
  ])("refuses %s", async (_, body, message) => {
    const client = await connect({ script: () => ({ text: "never" }) });
    await expect(client.messages.create({ ...base, ...body })).rejects.toMatchObject({
      status: 400,
      type: "invalid_request_error",
      message: expect.stringMatching(message),
      requestID: expect.stringMatching(/^req_/),
    });
  });

  it("refuses properties, media types and limits the SDK's types would not let through", async () => {
    running = await startAnthropic({
      script: () => ({ text: "never" }),
      contextWindow: 100,
      maxBodyBytes: 5_000,
    });
    const { url } = running;
    const post = async (body: unknown, headers: Record<string, string> = {}): Promise<string> => {
      const response = await fetch(`${url}/v1/messages`, {
        method: "POST",
        headers: {
          "x-api-key": "k",
          "anthropic-version": "2023-06-01",
          "content-type": "application/json",
          ...headers,
        },
        body: JSON.stringify(body),
      });
      const said: { error: { message: string } } = JSON.parse(await response.text());
      return `${response.status} ${said.error.message}`;
    };
    const image = { type: "image", source: { type: "base64", media_type: "image/tiff", data: "AAAA" } };
    expect(await post({ ...base, nonsense: 1 })).toBe("400 nonsense: Extra inputs are not permitted");
    const thinking = { type: "enabled", budget_tokens: 1_024 };
    expect(await post({ ...base, thinking, temperature: 0 })).toMatch(
      /^400 `temperature` may only be set to 1/,
    );
    expect(await post({ ...base, temperature: 0.5, top_p: 0.5 })).toMatch(/^400 .* cannot both be specified/);
    const inJson = (schema: object) => ({ output_config: { format: { type: "json_schema", schema } } });
    const inner = { type: "object", properties: {} };
    expect(await post({ ...base, ...inJson({ type: "array", items: inner }) })).toMatch(
      /^400 .*must be explicitly set to false/,
    );
    expect(await post({ ...base, ...inJson({ type: "number", minimum: 1 }) })).toMatch(/^400 .*'minimum'/);
    expect(await post({ model: "m", messages: [hello] })).toBe("400 max_tokens: Field required");
    expect(await post({ ...base, messages: [{ role: "user", content: [image] }] })).toMatch(/media_type/);
    expect(await post({ ...base, messages: [{ role: "user", content: "x".repeat(900) }] })).toMatch(
      /^400 prompt is too long: \d+ tokens > 100 maximum$/,
    );
    expect(await post({ ...base, messages: [{ role: "user", content: "x".repeat(9_000) }] })).toMatch(/^413/);
    expect(await post(base, { "anthropic-version": "latest" })).toMatch(/not a valid version/);
    expect(await post(base, { "content-type": "text/plain" })).toMatch(/^415/);
    expect(await post(base, { "x-api-key": "" })).toBe("401 x-api-key header is required");
  });

  it("lets in the keys it knows, in either header", async () => {
    const client = await connect({ script: () => ({ text: "hi" }), apiKeys: ["k"] });
    await client.messages.create(base);
    const stranger = new Anthropic({ apiKey: "x", baseURL: running?.url, maxRetries: 0, logLevel: "off" });
    await expect(stranger.messages.create(base)).rejects.toMatchObject({
      status: 401,
      type: "authentication_error",
    });
  });

  it("wants thinking back unchanged in a tool loop", async () => {
    const client = await connect({
      script: () => ({ thinking: "hm", toolCalls: [{ name: "ls", input: {} }] }),
    });
    const thinking: Body = { ...base, tools: [tool], thinking: { type: "enabled", budget_tokens: 1_024 } };
    const first = await client.messages.create(thinking);
    const [thought, called] = first.content;
    if (thought?.type !== "thinking" || called?.type !== "tool_use") throw new Error("not the scripted turn");
    const back = (content: Anthropic.ContentBlockParam[]): Promise<unknown> =>
      client.messages.create({
        ...thinking,
        messages: [hello, { role: "assistant", content }, { role: "user", content: [answer(called.id)] }],
      });
    const { id, name, input } = called;
    const plain: Anthropic.ContentBlockParam = { type: "tool_use", id, name, input };
    await back([thought, plain]);
    await expect(back([plain])).rejects.toThrow(/must start with a thinking block/);
    await expect(back([{ ...thought, thinking: "hmm" }, plain])).rejects.toThrow(/Invalid `signature`/);
    await expect(back([{ ...thought, signature: "" }, plain])).rejects.toThrow(/Invalid `signature`/);
  });

  it("fails as it is told to", async () => {
    const client = await connect({
      script: [
        { error: { status: 429, retryAfter: 3 } },
        { error: { status: 529 } },
        { text: "abcdefgh", error: { status: 200, type: "overloaded_error", afterEvents: 4 } },
        { text: "abcdefgh", fault: { kind: "cut", afterEvents: 4 } },
        { text: "abcdefgh", fault: { kind: "garbage", afterEvents: 4 } },
      ],
    });
    const limited = await client.messages.create(base).catch((error: unknown) => error);
    expect(limited).toMatchObject({ status: 429, type: "rate_limit_error" });
    expect(limited instanceof Anthropic.APIError && limited.headers?.get("retry-after")).toBe("3");
    await expect(client.messages.create(base)).rejects.toMatchObject({
      status: 529,
      type: "overloaded_error",
    });
    for (let i = 0; i < 3; i++) {
      let text = "";
      const reading = client.messages
        .stream(base)
        .on("text", (delta) => {
          text += delta;
        })
        .finalMessage();
      await expect(reading).rejects.toThrow();
      expect(text.length, `turn ${i}`).toBeGreaterThan(0);
    }
    await expect(client.messages.create(base)).rejects.toThrow(/The script has no turn 5/);
  });

  it("lists models for a valid key", async () => {
    const client = await connect({ script: [], models: ["claude-a", "claude-b"] });
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toEqual(["claude-a", "claude-b"]);
  });
});
