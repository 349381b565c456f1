import { describe, expect, it } from "vitest";
import type { FeishuConfig } from "../src/index.ts";
import { credentials, never, openBench } from "./harness.ts";

const webhookUrl = "https://gateway.example/channels/feishu/main/events";
const events = ["im.message.receive_v1"];

type Options = Parameters<typeof openBench>[1];

/** An account whose public address leads to it. */
async function openPublished(config: Partial<FeishuConfig>, options: Options = {}) {
  const bench: Awaited<ReturnType<typeof openBench>> = await openBench(config, {
    ...options,
    context: {
      fetch: (input, init) => {
        if (String(input) !== webhookUrl || bench.channel.webhook === undefined) return fetch(input, init);
        return bench.channel.webhook(new Request(webhookUrl, init));
      },
    },
  });
  return bench;
}

const checksOf = async (bench: Awaited<ReturnType<typeof openBench>>) =>
  new Map((await bench.channel.checks?.(never))?.map((check) => [check.about, check]));

describe("what an account lacks", () => {
  it.each([
    ["in clear", { verificationToken: "token-of-the-app" }],
    ["encrypted", { encryptKey: "key-of-the-app" }],
    ["encrypted, with a token", { verificationToken: "token-of-the-app", encryptKey: "key-of-the-app" }],
  ])("is no way in where its address answers Feishu's challenge, %s", async (_, config) => {
    const subscription = { type: "webhook", url: webhookUrl, events } as const;
    await using bench = await openPublished(config, { subscription });
    const checks = await checksOf(bench);
    expect(checks.get("events")).toMatchObject({ ok: true });
    expect(checks.get("webhook")).toMatchObject({ ok: true, detail: expect.stringContaining(webhookUrl) });
    expect(bench.events).toEqual([]);
    for (const secret of [credentials.appSecret, ...Object.values(config)])
      expect(JSON.stringify([...checks, bench.logged])).not.toContain(secret);
  });

  it("is the address that Feishu posts to, where that is another", async () => {
    const subscription = { type: "webhook", url: "https://elsewhere.example/e", events } as const;
    const config = { verificationToken: "token-of-the-app", webhookUrl };
    await using bench = await openPublished(config, { subscription });
    expect((await checksOf(bench)).get("events")).toMatchObject({
      ok: false,
      detail: "Feishu posts events to https://elsewhere.example/e, which is not webhookUrl",
    });
  });

  it.each([
    ["a long connection", "webhook", "websocket", "by a long connection"],
    ["a webhook", "socket", "webhook", "Feishu posts events to an address"],
  ] as const)("is the other transport where Feishu is set to %s", async (_, transport, type, words) => {
    const config = { verificationToken: "token-of-the-app", transport };
    await using bench = await openPublished(config, { subscription: { type, events } });
    expect((await checksOf(bench)).get("events")).toMatchObject({
      ok: false,
      detail: expect.stringContaining(words),
    });
  });

  it("is the event of messages where the app does not subscribe to it", async () => {
    const subscription = { type: "webhook", url: webhookUrl, events: [] } as const;
    await using bench = await openPublished({ verificationToken: "token-of-the-app" }, { subscription });
    expect((await checksOf(bench)).get("events")).toMatchObject({
      ok: false,
      detail: "the app does not subscribe to im.message.receive_v1",
    });
  });

  it("is not known where the app may not read it, and nobody has said the address", async () => {
    await using bench = await openPublished({ verificationToken: "token-of-the-app" });
    const checks = await checksOf(bench);
    for (const about of ["events", "webhook"])
      expect(checks.get(about)).toMatchObject({ ok: true, detail: expect.stringContaining("not checked") });
  });
});
