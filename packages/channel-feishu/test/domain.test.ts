import { openChannel } from "@signalbox/channel/testkit";
import { describe, expect, it } from "vitest";
import { feishu } from "../src/index.ts";
import { credentials, never } from "./harness.ts";

/** An account where nobody answers, and the host it asks first. */
async function openUnanswered(settings: object) {
  const asked = Promise.withResolvers<string>();
  const fetch: typeof globalThis.fetch = async (input) => {
    asked.resolve(new URL(input instanceof Request ? input.url : input).host);
    throw new TypeError("nobody answers");
  };
  const all = { ...credentials, verificationToken: "token", ...settings };
  const running = await openChannel(feishu, all, { context: { fetch }, start: false });
  return Object.assign(running, { asked: asked.promise });
}

describe("an account", () => {
  const domains: [object, string][] = [
    [{}, "open.feishu.cn"],
    [{ domain: "feishu" }, "open.feishu.cn"],
    [{ domain: "lark" }, "open.larksuite.com"],
    [{ domain: "lark", baseUrl: "https://proxy.example/" }, "proxy.example"],
  ];

  it.each(domains)("of %j sends to %s", async (settings, host) => {
    await using account = await openUnanswered(settings);
    const message = { parts: [{ type: "text" as const, text: "hi" }] };
    const sending = account.channel.send({ id: "oc_1" }, message, { idempotencyKey: "k", signal: never });
    await expect(sending).rejects.toThrow("no response");
    expect(await account.asked).toBe(host);
  });

  it.each(domains)("of %j has its long connection from %s", async (settings, host) => {
    await using account = await openUnanswered({ ...settings, transport: "socket" });
    const giveUp = new AbortController();
    const starting = account.channel.start(giveUp.signal).catch(() => {});
    expect(await account.asked).toBe(host);
    giveUp.abort();
    await account.channel.stop({ drainMs: 0 });
    await starting;
  });
});
