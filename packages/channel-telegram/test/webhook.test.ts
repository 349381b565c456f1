import { serveWebhook } from "@signalbox/channel/testkit";
import { person, textMessage } from "@signalbox/testkit/telegram";
import { describe, expect, it } from "vitest";
import { telegram } from "../src/index.ts";
import { type Bench, openBench, token, webhookSecret } from "./harness.ts";

const webhook = {
  transport: "webhook",
  webhookSecret,
  webhookUrl: "https://gateway.example/channels/telegram/main",
} as const;

async function post(
  bench: Bench,
  body: string,
  secret: string | undefined,
  method = "POST",
): Promise<Response> {
  const headers = secret === undefined ? {} : { "x-telegram-bot-api-secret-token": secret };
  const request = new Request("http://gateway/u", {
    method,
    headers,
    ...(method === "POST" ? { body } : {}),
  });
  const answer = await bench.channel.webhook?.(request);
  if (answer === undefined) throw new Error("no webhook");
  return answer;
}

/** Opens an account whose webhook is served on a loopback port. */
async function openServed(): Promise<Bench & { readonly url: string }> {
  let channel: Bench["channel"] | undefined;
  const served = await serveWebhook({
    webhook: async (request) =>
      (await channel?.webhook?.(request)) ?? new Response(undefined, { status: 503 }),
  });
  const bench = await openBench({ ...webhook, webhookUrl: served.url });
  channel = bench.channel;
  return Object.assign(bench, {
    url: served.url,
    async [Symbol.asyncDispose]() {
      await bench.channel.stop({ drainMs: 0 });
      await bench.fakeServer.stop();
      await served.stop();
    },
  });
}

/** Returns a loopback URL at which no server listens. */
async function getUnusedUrl(): Promise<string> {
  const { url, stop } = await serveWebhook({});
  await stop();
  return url;
}

async function issuesOf(settings: unknown): Promise<readonly string[]> {
  const checked = await telegram.config["~standard"].validate(settings);
  return checked.issues?.map(({ message }) => message) ?? [];
}

describe("a webhook", () => {
  it("is registered with its secret and rejects requests without it", async () => {
    await using bench = await openBench(webhook);
    const registered = bench.fakeServer.requests.find(({ path }) => path.endsWith("/setWebhook"));
    expect(JSON.parse(registered?.text ?? "{}")).toMatchObject({
      url: webhook.webhookUrl,
      secret_token: webhookSecret,
    });
    const update = JSON.stringify(textMessage("hello"));
    for (const secret of [undefined, "", "a guess", `${webhookSecret}x`])
      expect((await post(bench, update, secret)).status).toBe(401);
    expect(bench.events).toEqual([]);
    expect((await post(bench, update, webhookSecret)).status).toBe(200);
    expect(bench.events).toMatchObject([{ text: "hello", sender: { id: String(person.id) } }]);
  });

  it("is received by a host that has not started the account, and costs no request without its secret", async () => {
    await using bench = await openBench(webhook, { start: false });
    const update = JSON.stringify(textMessage("hello"));
    expect((await post(bench, update, "a guess")).status).toBe(401);
    expect(bench.fakeServer.requests).toEqual([]);
    expect((await post(bench, update, webhookSecret)).status).toBe(200);
    expect(bench.events).toMatchObject([{ text: "hello" }]);
  });

  it("is not reported as reached before Telegram has delivered an update", async () => {
    await using bench = await openServed();
    const { signal } = new AbortController();
    expect(await bench.channel.checks?.(signal)).toMatchObject([
      { about: "groups", ok: true },
      { about: "webhook", ok: true, detail: expect.stringContaining("not yet tried by Telegram") },
      { about: "received", ok: true, detail: expect.stringContaining("no event was received") },
    ]);
    await bench.fakeServer.push(textMessage("hello"));
    expect(bench.events).toMatchObject([{ text: "hello" }]);
    expect(await bench.channel.checks?.(signal)).toMatchObject([
      {},
      { about: "webhook", ok: true, detail: "Telegram reaches the webhook" },
      { about: "received", ok: true, detail: expect.stringContaining("the last event") },
    ]);
  });

  it("fails its check with the reason if its URL cannot be reached, from here or by Telegram", async () => {
    const { signal } = new AbortController();
    await using bench = await openBench({ ...webhook, webhookUrl: await getUnusedUrl() });
    expect(await bench.channel.checks?.(signal)).toMatchObject([
      {},
      { about: "webhook", ok: false, detail: expect.stringContaining("cannot be reached") },
      {},
    ]);
    void bench.fakeServer.push(textMessage("hello"));
    await expect
      .poll(async () => (await bench.channel.checks?.(signal))?.[1])
      .toMatchObject({ ok: false, detail: "Telegram cannot deliver updates: Connection refused" });
  });

  it("fails its check with the setting to correct if Telegram posts another secret", async () => {
    await using bench = await openServed();
    const { signal } = new AbortController();
    const { fakeServer } = bench;
    await fetch(`${fakeServer.url}/bot${token}/setWebhook`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ url: bench.url, secret_token: "another-secret-0123" }),
    });
    void fakeServer.push(textMessage("hello"));
    await expect
      .poll(async () => (await bench.channel.checks?.(signal))?.[1])
      .toMatchObject({
        ok: false,
        detail: "Telegram cannot deliver updates: Wrong response from the webhook: 401 Unauthorized",
        remedy: expect.stringContaining("webhookSecret"),
      });
    expect(bench.channel.health()).toMatchObject({
      state: "degraded",
      reason: expect.stringContaining("webhookSecret"),
    });
  });

  it("fails its check if Telegram sends the updates to another account's URL", async () => {
    const { signal } = new AbortController();
    await using bench = await openBench(webhook);
    const elsewhere = { ...webhook, webhookUrl: "https://elsewhere.example/channels/telegram/main" };
    await using _other = await openBench(elsewhere, { fakeServer: bench.fakeServer });
    expect(await bench.channel.checks?.(signal)).toMatchObject([
      {},
      { about: "webhook", ok: false, detail: "Telegram sends this bot's updates to another URL" },
      {},
    ]);
  });

  it("warns about guest mode, in which the bot does not reply", async () => {
    await using bench = await openBench({}, { guests: true });
    expect(await bench.channel.checks?.(new AbortController().signal)).toMatchObject([
      { about: "groups", ok: true },
      { about: "guests", ok: false },
    ]);
  });

  it("answers requests that Telegram would not send with a 4xx status", async () => {
    await using bench = await openBench(webhook);
    expect((await post(bench, "{", webhookSecret)).status).toBe(400);
    expect((await post(bench, '{"update_id":"x"}', webhookSecret)).status).toBe(400);
    expect((await post(bench, `"${"x".repeat(1_048_577)}"`, webhookSecret)).status).toBe(413);
    expect((await post(bench, "", webhookSecret, "GET")).status).toBe(405);
  });

  it("makes Telegram deliver an update again if the host rejected it", async () => {
    await using bench = await openBench(webhook);
    bench.onEmit = async () => "rejected";
    expect((await post(bench, JSON.stringify(textMessage("hello")), webhookSecret)).status).toBe(503);
  });

  it("reports an account as degraded if Telegram sends updates to another URL", async () => {
    await using bench = await openBench({ ...webhook, webhookUrl: undefined });
    await expect
      .poll(() => bench.channel.health())
      .toMatchObject({
        state: "degraded",
        reason: expect.stringContaining("setWebhook"),
      });
  });
});

describe("settings", () => {
  it("name the field and the remedy if they are invalid", async () => {
    expect(await issuesOf({})).toEqual([expect.stringContaining("botToken is missing: copy it from")]);
    expect(await issuesOf({ botToken: "abc" })).toEqual([
      expect.stringContaining("a number, a colon and a secret"),
    ]);
    expect(await issuesOf({ botToken: token, transport: "webhook" })).toEqual([
      expect.stringContaining("webhookSecret is missing"),
    ]);
    expect(await issuesOf({ botToken: token, transport: "webhook", webhookSecret: "ab".repeat(16) })).toEqual(
      [expect.stringContaining("too easy to guess")],
    );
    expect(await issuesOf({ botToken: token, transport: "webhook", webhookSecret: "short" })).toEqual([
      expect.stringContaining("16 to 256"),
    ]);
    expect(await issuesOf({ botToken: token, apiBaseUrl: "ftp://x" })).toEqual([
      expect.stringContaining("apiBaseUrl must be"),
    ]);
    expect(await issuesOf({ botToken: token })).toEqual([]);
  });
});
