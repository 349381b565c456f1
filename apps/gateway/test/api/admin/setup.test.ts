import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@signalbox/client";
import { startFakeClaudePlan } from "@signalbox/testkit/anthropic";
import { startOpenAI } from "@signalbox/testkit/openai";
import { startTelegram, textMessage } from "@signalbox/testkit/telegram";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { APP, demoConfig, KEY, openWorld, TOKEN, type World } from "../../support/harness.ts";

const BOT = "42:secret-of-the-bot-0123456789";

async function openSetup(config: Parameters<World["configure"]>[0] = demoConfig()) {
  const world = await openWorld();
  world.configure(config);
  const started = await world.start();
  const client = createClient({ baseUrl: started.url, token: TOKEN });
  const secret = (name: string): string => join(world.home.dir, "secrets", name);
  const written = () => parse(readFileSync(world.home.configFile, "utf8"));
  return { world, started, client, secret, written };
}

describe("the setup of a model over the API", () => {
  it("checks the key in the vendor's words, lists the vendor's models, and stores the key in a file", async () => {
    const { world, client, secret, written, started } = await openSetup();
    world.script(() => ({ text: "OK" }));
    const baseUrl = world.anthropic.url;
    const wrong = { provider: "anthropic", apiKey: "wrong-key-0123456789abcdef", baseUrl };
    expect(await client.tryProvider(wrong)).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/x-api-key|authentication/i),
    });
    expect(existsSync(secret("anthropic-key"))).toBe(false);

    const access = { provider: "anthropic", apiKey: KEY, baseUrl };
    const { ok, model = "", models } = await client.tryProvider(access);
    expect(ok).toBe(true);
    expect(models.find(({ id }) => id === model)).toMatchObject({ isKnown: true });
    expect(models.at(-1)).toEqual({ id: "claude-of-tomorrow", isKnown: false });
    await client.setUpModel({ ...access, model });
    expect(written()).toMatchObject({
      models: {
        providers: {
          anthropic: { api: "anthropic-messages", baseUrl, apiKey: "${file:secrets/anthropic-key}" },
        },
      },
      agents: { defaults: { model: `anthropic/${model}` } },
    });
    expect(readFileSync(secret("anthropic-key"), "utf8")).toBe(`${KEY}\n`);
    expect(statSync(secret("anthropic-key")).mode & 0o077).toBe(0);
    expect((await client.me()).agents[0]?.model).toBe(`anthropic/${model}`);
    expect((await client.setup()).providers[0]).toMatchObject({ id: "anthropic", isConfigured: true });
    expect(started.log()).not.toContain(KEY);
    expect(started.log()).not.toContain("wrong-key");
    const { entries } = await client.audit();
    expect(entries.map(({ action }) => action)).toContain("tried");
    expect(JSON.stringify(entries)).not.toContain(KEY);
  });

  it("sends the headers of a provider to no other address", async () => {
    const own = await startOpenAI({ script: () => ({ text: "OK" }) });
    const other = await startOpenAI({ script: () => ({ text: "OK" }) });
    onTestFinished(() => own.stop());
    onTestFinished(() => other.stop());
    const headers = { "api-key": "key-of-the-own-server" };
    const local = { api: "openai-chat", baseUrl: own.baseUrl, headers, models: [{ id: "m" }] };
    const { client } = await openSetup({ ...demoConfig(), models: { providers: { local } } });
    const access = { provider: "local", baseUrl: other.baseUrl, model: "m" };
    for (const apiKey of [undefined, KEY]) {
      const refused = { code: "conflict", message: expect.stringContaining("has headers") };
      await expect(client.tryProvider({ ...access, apiKey })).rejects.toMatchObject(refused);
      await expect(client.setUpModel({ ...access, apiKey })).rejects.toMatchObject(refused);
    }
    expect(other.requests).toEqual([]);
    expect(await client.tryProvider({ ...access, baseUrl: own.baseUrl })).toMatchObject({ ok: true });
  });

  it("checks the setup token of a Claude plan, stores it apart, and keeps the previous model as a fallback", async () => {
    const fake = await startFakeClaudePlan({ script: () => ({ text: "OK" }) });
    onTestFinished(() => fake.stop());
    const { client, secret, written, started } = await openSetup();
    const token = fake.issueToken();
    const access = { provider: "claude", apiKey: token, baseUrl: fake.url };
    fake.setPolicy("extra_usage_off");
    expect(await client.tryProvider(access)).toMatchObject({
      ok: false,
      detail: expect.stringContaining("claude.ai/settings/usage"),
    });
    fake.setPolicy("allowed");
    const { ok, model = "" } = await client.tryProvider(access);
    expect(ok).toBe(true);
    expect(existsSync(secret("subscriptions"))).toBe(false);
    const previous = written().agents?.defaults?.model;
    await client.setUpModel({ ...access, model });
    expect(written()).toMatchObject({
      models: {
        providers: { claude: { api: "anthropic-messages", subscription: "claude", baseUrl: fake.url } },
      },
      agents: {
        defaults: { model: `claude/${model}`, ...(previous !== undefined && { fallbacks: [previous] }) },
      },
    });
    expect(readFileSync(secret("subscriptions/claude.json"), "utf8")).toContain(token);
    expect(statSync(secret("subscriptions/claude.json")).mode & 0o077).toBe(0);
    // The stored sign-in is used without another token, but at no other address.
    expect(await client.tryProvider({ provider: "claude" })).toMatchObject({ ok: true });
    await expect(
      client.tryProvider({ provider: "claude", baseUrl: "http://127.0.0.1:9" }),
    ).rejects.toMatchObject({ code: "bad_request" });
    const shown = JSON.stringify([await client.setup(), await client.configuration(), await client.audit()]);
    expect(shown).not.toContain(token);
    expect(started.log()).not.toContain(token);
  });

  it("refuses an API key as a setup token, and a setup token as an API key", async () => {
    const { client, written } = await openSetup();
    const before = written();
    const token = `sk-ant-oat01-${"aB3_".repeat(20)}AA`;
    for (const [access, words] of [
      [{ provider: "claude", apiKey: "sk-ant-api03-0123456789abcdef0123456789" }, "this is an API key"],
      [{ provider: "claude" }, "needs a setup token"],
      [{ provider: "anthropic", apiKey: token }, "not an API key"],
    ] as const) {
      const refused = client.setUpModel({ ...access, model: "claude-sonnet-4-6" });
      await expect(refused).rejects.toMatchObject({ message: expect.stringContaining(words) });
    }
    expect(written()).toEqual(before);
  });

  it("lists the models of a server, and reports one that does not respond", async () => {
    const { client, written } = await openSetup();
    const server = await startOpenAI({ script: () => ({ text: "OK" }), models: ["qwen3", "llama"] });
    onTestFinished(() => server.stop());
    expect(await client.tryProvider({ provider: "local", baseUrl: "http://127.0.0.1:9/v1" })).toEqual({
      ok: false,
      detail: "No server responds at http://127.0.0.1:9/v1.",
      kind: "unreachable",
      models: [],
    });
    const access = { provider: "local", baseUrl: server.baseUrl };
    const { ok, models } = await client.tryProvider(access);
    expect(ok).toBe(true);
    expect(models.map(({ id }) => id)).toEqual(["llama", "qwen3"]);
    await client.setUpModel({ ...access, model: "qwen3" });
    await client.setUpModel({ ...access, model: "llama" });
    expect(written().models.providers.local).toEqual({
      api: "openai-chat",
      baseUrl: server.baseUrl,
      models: [{ id: "qwen3" }, { id: "llama" }],
    });
    expect(written().agents.defaults.model).toBe("local/llama");
  });

  it("never sends a stored key to another address", async () => {
    const thief = await startOpenAI({ script: () => ({ text: "OK" }) });
    onTestFinished(() => thief.stop());
    const openai = { api: "openai-responses", apiKey: "key-that-is-stored-0123456789" };
    const { client, written } = await openSetup(demoConfig({ models: { providers: { openai } } }));
    const access = { provider: "openai", baseUrl: thief.baseUrl };
    await expect(client.tryProvider(access)).rejects.toMatchObject({ code: "bad_request" });
    await expect(client.setUpModel({ ...access, model: "gpt-5.2" })).rejects.toMatchObject({
      code: "bad_request",
    });
    expect(thief.requests).toEqual([]);
    expect(written().models.providers.openai).toEqual(openai);
  });

  it("keeps the previous key if the change is refused", async () => {
    const { client, world, secret } = await openSetup();
    const access = { provider: "openai", model: "gpt-5.2" };
    await client.setUpModel({ ...access, apiKey: "key-of-the-vendor-0123456789" });
    world.configure(demoConfig({ agents: "nonsense" }));
    await expect(client.setUpModel({ ...access, apiKey: "another-key-0123456789" })).rejects.toMatchObject({
      code: "invalid",
    });
    expect(readFileSync(secret("openai-key"), "utf8")).toBe("key-of-the-vendor-0123456789\n");
  });
});

describe("the setup of an account over the API", () => {
  it("stores nothing that the channel or the platform refuses, unless this is wanted", async () => {
    const { client, world, written, secret } = await openSetup();
    const { appId, verificationToken, encryptKey } = APP;
    const settings = { appId, verificationToken, encryptKey, baseUrl: world.feishu.url };
    const feishu = { channel: "feishu", settings: { ...settings, appSecret: "not-the-secret-0123456789" } };
    const invalid = await client.setUpAccount({ channel: "telegram", settings: { botToken: "nonsense" } });
    expect(invalid).toMatchObject({ ok: false, issues: [{ field: "botToken" }] });
    const refused = await client.setUpAccount(feishu);
    expect(refused).toMatchObject({ ok: false, detail: expect.stringContaining("app secret invalid") });
    expect(written().channels).toBeUndefined();
    expect(existsSync(secret("feishu-main-appSecret"))).toBe(false);
    expect(await client.setUpAccount({ ...feishu, check: false })).toMatchObject({ ok: true });
    expect(written().channels.feishu.accounts.main.appSecret).toBe("${file:secrets/feishu-main-appSecret}");
  });

  it("connects an account that answers at once, and makes its user an owner", async () => {
    const { client, world, written } = await openSetup();
    const telegram = await startTelegram({ token: BOT });
    onTestFinished(() => telegram.stop());
    world.script(() => ({ text: "here I am" }));
    const account = { botToken: BOT, apiBaseUrl: telegram.url, richMessages: "false" };
    const result = await client.setUpAccount({ channel: "telegram", settings: account, owner: "5001" });
    expect(result).toMatchObject({ ok: true, name: "Signalbox", written: { accounts: ["telegram/main"] } });
    expect(written()).toMatchObject({
      channels: {
        telegram: {
          accounts: { main: { botToken: "${file:secrets/telegram-main-botToken}", richMessages: false } },
        },
      },
      access: { owners: ["telegram:5001"] },
    });
    expect((await client.pairings()).owners).toEqual([{ entry: "telegram:5001" }]);
    await telegram.push(textMessage("are you there?"));
    await expect.poll(() => telegram.sent.length).toBeGreaterThan(0);
  });

  it.each([
    ["an unknown setting", { channel: "telegram", settings: { bottoken: BOT } }, "bad_request"],
    ["an unknown channel", { channel: "../x", settings: {} }, "not_found"],
    [
      "an account whose name is a path",
      { channel: "telegram", account: "../../x", settings: { botToken: BOT } },
      "bad_request",
    ],
  ])("refuses %s", async (_, setup, code) => {
    const { client, world } = await openSetup();
    await expect(client.setUpAccount({ ...setup, check: false })).rejects.toMatchObject({ code });
    expect(existsSync(join(world.home.dir, "secrets"))).toBe(false);
  });
});
