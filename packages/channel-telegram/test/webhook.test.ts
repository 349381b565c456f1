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

  it("is covered by the account checks", async () => {
    const { signal } = new AbortController();
    await using bench = await openBench(webhook);
    expect(await bench.channel.checks?.(signal)).toMatchObject([
      { about: "groups", ok: true },
      { about: "webhook", ok: true },
    ]);
    const elsewhere = { ...webhook, webhookUrl: "https://elsewhere.example/channels/telegram/main" };
    await using other = await openBench(elsewhere, { fakeServer: bench.fakeServer });
    expect(await other.channel.checks?.(signal)).toMatchObject([{}, { about: "webhook", ok: true }]);
    expect(await bench.channel.checks?.(signal)).toMatchObject([
      {},
      { about: "webhook", ok: false, detail: "Telegram sends this bot's updates to another URL" },
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
