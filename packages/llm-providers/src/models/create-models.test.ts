import { startAnthropic } from "@signalbox/testkit/anthropic";
import { startOpenAI } from "@signalbox/testkit/openai";
import { afterAll, describe, expect, it } from "vitest";
import type { FetchLike } from "../provider/provider.ts";
import { readTurn } from "../testkit/index.ts";
import type { ProviderEntries } from "./accounts.ts";
import { createModels } from "./create-models.ts";

const fakeServers = await Promise.all([
  startAnthropic({ script: () => ({ text: "From Anthropic." }) }),
  startOpenAI({ script: () => ({ text: "From OpenAI." }) }),
]);
const [anthropic, openai] = fakeServers;
afterAll(() => Promise.all(fakeServers.map((fakeServer) => fakeServer.stop())));

/** A `fetch` that must not be called. */
const nowhere: FetchLike = async (input) => {
  throw new Error(`asked ${String(input)}`);
};

describe("createModels", () => {
  it("needs only a key and a prompt", async () => {
    const models = createModels({ anthropic: { apiKey: "k", baseUrl: anthropic.url } });
    const answer = await models.complete("anthropic/claude-sonnet-4-6", "Hi.");
    expect(answer).toMatchObject({ ok: true, text: "From Anthropic.", toolCalls: [] });
  });

  it("streams events and returns the answer", async () => {
    const models = createModels({ openai: { apiKey: "k", baseUrl: `${openai.url}/v1` } });
    const stream = models.stream("gpt-5.2", {
      system: "Be brief.",
      messages: [{ role: "user", content: "Hi.", timestamp: 0 }],
    });
    let text = "";
    for await (const event of stream) if (event.type === "text.delta") text += event.delta;
    expect(text).toBe("From OpenAI.");
    expect(await stream.result()).toMatchObject({ ok: true, text });
  });

  it("uses a provider's own fetch in place of all keys", async () => {
    const sent: (string | null)[] = [];
    const own: FetchLike = (input, init) => {
      sent.push(new Headers(init?.headers).get("authorization"));
      return fetch(input, init);
    };
    const env = { OPENAI_API_KEY: "of-the-environment" };
    const models = createModels(
      { openai: { baseUrl: `${openai.url}/v1`, fetch: own } },
      { env, fetch: nowhere },
    );
    expect(await models.complete("openai/gpt-5.2", "Hi.")).toMatchObject({ ok: true });
    expect(sent).toEqual([null]);
  });

  it("refuses a provider's own fetch without a base URL", () => {
    const { problems, providers } = createModels({ openai: { apiKey: "k", fetch: nowhere } });
    expect(problems).toMatchObject([{ code: "invalid_provider", provider: "openai", field: "baseUrl" }]);
    expect(providers).toEqual([]);
  });

  it("needs nothing for the demo model", async () => {
    const models = createModels();
    expect(models.defaultReference).toBe("demo/demo");
    expect((await models.complete("demo/demo", "What can you do?")).text).not.toBe("");
  });

  it("tries a fallback", async () => {
    const refused: FetchLike = async (input, init) =>
      String(input).startsWith(anthropic.url) ? fetch(input, init) : new Response("{}", { status: 401 });
    const models = createModels(
      { anthropic: { apiKey: "k", baseUrl: anthropic.url }, openai: { apiKey: "wrong" } },
      { fetch: refused },
    );
    const fallbacks = ["mistral/none-has-a-key", "anthropic/claude-sonnet-4-6"];
    expect((await models.complete("openai/gpt-5.2", "Hi.", { fallbacks })).text).toBe("From Anthropic.");
  });

  it("dates every answer by the host's clock, including failures", async () => {
    const own = { id: "own", tools: "text" } as const;
    const models = createModels(
      { openai: { apiKey: "k", baseUrl: `${openai.url}/v1`, models: [own] } },
      { now: () => 86_400_000 },
    );
    for (const reference of ["openai/gpt-5.2", "openai/own", "demo/demo", "anthropic/no-key", "nobody/m"])
      expect((await models.complete(reference, "Hi.")).message.timestamp, reference).toBe(86_400_000);
  });

  it("fails as aborted if the stream was left early", async () => {
    const stream = createModels().stream("demo/demo", "What can you do?");
    for await (const event of stream) if (event.type === "text.delta") break;
    expect(await stream.result()).toMatchObject({ ok: false, error: { code: "aborted" } });
  });
});

it("load imports the SDK of each wire format in use once, and no others", async () => {
  const loaded: string[] = [];
  const providers = ["one", "two", "unused"].map((api) => ({
    api,
    connect: () => {
      throw new Error("nobody asks");
    },
    async load() {
      loaded.push(api);
    },
  }));
  const baseUrl = "http://127.0.0.1:9";
  const entries = { a: { api: "one", baseUrl }, b: { api: "one", baseUrl }, c: { api: "two", baseUrl } };
  await createModels(entries, { providers }).load();
  expect(loaded).toEqual(["one", "two"]);
  await createModels({ anthropic: { apiKey: "k" } }, { fetch: nowhere }).load();
});

it("load imports the remaining SDKs if one cannot be imported, and rejects", async () => {
  const loaded: string[] = [];
  const providers = ["one", "two"].map((api) => ({
    api,
    connect: () => {
      throw new Error("nobody asks");
    },
    async load() {
      if (api === "one") throw new Error("its SDK is not installed");
      loaded.push(api);
    },
  }));
  const baseUrl = "http://127.0.0.1:9";
  const models = createModels({ a: { api: "one", baseUrl }, b: { api: "two", baseUrl } }, { providers });
  await expect(models.load()).rejects.toThrow("its SDK is not installed");
  expect(loaded).toEqual(["two"]);
});

describe("an unusable reference", () => {
  it("names the missing key and its environment variable", async () => {
    const models = createModels({}, { env: { MISTRAL_API_KEY: "" }, fetch: nowhere });
    const problem = { code: "missing_key", provider: "mistral", variable: "MISTRAL_API_KEY" };
    expect(models.resolve("mistral/mistral-large-latest")).toMatchObject({ ok: false, problem });
    const answer = await models.complete("mistral/mistral-large-latest", "Hi.");
    expect(answer).toMatchObject({
      ok: false,
      error: { code: "auth", message: expect.stringContaining("MISTRAL_API_KEY") },
    });
    const { events } = await readTurn(models.stream("mistral/x", "Hi."));
    expect(events.map(({ type }) => type)).toEqual(["start", "error"]);
  });

  it("explains how to use the environment if it is not used", () => {
    const said = (env?: Record<string, string>) => createModels({ anthropic: {} }, env && { env }).problems;
    expect(said()).toMatchObject([
      { message: expect.stringContaining("or pass `env: process.env` and set ANTHROPIC_API_KEY.") },
    ]);
    expect(said({})).toMatchObject([
      { message: expect.stringContaining("or set the environment variable ANTHROPIC_API_KEY.") },
    ]);
  });

  it("is one with an unknown provider, or with an unknown model in strict mode", () => {
    const models = createModels({ openai: { apiKey: "k" } });
    expect(models.resolve("nobody/x")).toMatchObject({
      problem: { code: "unknown_provider", provider: "nobody" },
    });
    expect(models.resolve("openai/gpt-52", { strict: true })).toMatchObject({
      problem: { code: "unknown_model" },
    });
    expect(models.resolve("openai/gpt-52")).toMatchObject({
      ok: true,
      warnings: [{ code: "model_unknown" }],
    });
  });

  it("a local server needs no key, and its model can be found by its id alone", () => {
    const local = { api: "openai-chat", baseUrl: "http://127.0.0.1:11434/v1", models: [{ id: "qwen3" }] };
    const models = createModels({ local });
    expect(models.resolve("local/qwen3")).toMatchObject({ ok: true, model: { provider: "local" } });
    expect(models.defaultReference).toBe("local/qwen3");
  });
});

describe("an invalid entry", () => {
  const env = { ANTHROPIC_API_KEY: "from the environment" };
  const broken: readonly [string, object, string][] = [
    ["a misspelt field", { baseURL: "https://proxy.test" }, "baseURL"],
    ["an address from a variable that is not set", { baseUrl: undefined }, "baseUrl"],
    ["an address that is none", { baseUrl: "proxy.test" }, "baseUrl"],
    ["a wire format nobody speaks", { api: "anthropic" }, "api"],
    ["a key in curly quotation marks", { apiKey: "“sk-ant-1”" }, "apiKey"],
    ["a further key of two lines", { apiKey: ["sk-ant-1", "sk-ant-2\nsk-ant-3"] }, "apiKey"],
    ["a header with a space in its name", { headers: { "X Team": "blue" } }, "headers"],
    ["a header that is not in Latin letters", { headers: { "X-Team": "蓝" } }, "headers"],
  ];

  it.each(broken)("with %s is off, and nothing is sent to the vendor", async (_what, entry, field) => {
    const models = createModels({ anthropic: entry }, { env, fetch: nowhere });
    expect(models.problems).toMatchObject([{ code: "invalid_provider", provider: "anthropic", field }]);
    expect(models.providers).toEqual([]);
    const answer = await models.complete("anthropic/claude-sonnet-4-6", "Hi.");
    expect(answer).toMatchObject({ ok: false, error: { code: "invalid" } });
  });

  it("names the variable with an invalid key without quoting the key", async () => {
    const models = createModels({}, { env: { OPENAI_API_KEY: "sk-copied…" }, fetch: nowhere });
    expect(models.problems).toMatchObject([{ code: "invalid_provider", field: "OPENAI_API_KEY" }]);
    expect(models.problems[0]?.message).not.toContain("copied");
    expect(models.providers).toEqual([]);
    // A trailing line break, as in a file, is not part of the key.
    expect(createModels({}, { env: { OPENAI_API_KEY: "sk-1\n" } }).problems).toEqual([]);
  });

  it.each<[string, ProviderEntries, string]>([
    [
      "openai",
      { openai: { apikey: "k" } as object },
      "Unknown field `apikey` in provider `openai`; did you mean `apiKey`?",
    ],
    ["mine", { mine: { api: "openai-caht" } }, "did you mean `openai-chat`?"],
    [
      "opnai",
      { openai: { apiKey: "k" } },
      "Unknown provider `opnai` in model `opnai/gpt-5.2`; did you mean `openai`?",
    ],
  ])("suggests what was probably meant: %s", async (provider, entries, message) => {
    const answer = await createModels(entries).complete(`${provider}/gpt-5.2`, "Hi.");
    expect(answer).toMatchObject({ ok: false, error: { message: expect.stringContaining(message) } });
  });

  it("that its host disabled is off, even if the environment has a key", () => {
    const models = createModels({}, { env, disabled: ["anthropic"] });
    expect(models.resolve("anthropic/claude-sonnet-4-6")).toMatchObject({
      problem: { code: "invalid_provider", provider: "anthropic" },
    });
    expect(createModels({}, { env }).providers).toEqual(["anthropic"]);
  });
});
