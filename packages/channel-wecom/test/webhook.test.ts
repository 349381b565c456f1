import { createInMemoryState } from "@signalbox/channel";
import { openChannel, type RunningChannel, serveWebhook } from "@signalbox/channel/testkit";
import { textMessage, wecomEvent } from "@signalbox/testkit/wecom";
import { WecomCrypto } from "@wecom/aibot-node-sdk";
import { expect, it, onTestFinished } from "vitest";
import { openCallback, sealCallback } from "../src/encryption.ts";
import { type WecomAddress, wecom } from "../src/index.ts";
import { limits } from "../src/limits.ts";
import { callbacks, createShiftedClock, never, startServer } from "./harness.ts";

const to: WecomAddress = { type: "single", id: "zhangsan" };
const parts = (...texts: string[]) => texts.map((text) => ({ type: "text", text }) as const);

async function open() {
  const fakeServer = await startServer();
  const state = createInMemoryState();
  const clock = createShiftedClock();
  const start = async () => {
    const settings = { transport: "webhook", ...callbacks, apiBaseUrl: fakeServer.url };
    const running = await openChannel(wecom, settings, { context: { state, clock } });
    const gateway = await serveWebhook(running.channel);
    onTestFinished(() => running[Symbol.asyncDispose]());
    onTestFinished(() => gateway.stop());
    return { running, url: gateway.url };
  };
  onTestFinished(() => fakeServer.stop());
  return { fakeServer, clock, start };
}

function lastMessageId({ events }: RunningChannel<WecomAddress>): string {
  const event = events.at(-1);
  if (event?.type !== "message") throw new Error("No message was received.");
  return event.messageId;
}

it("receives an encrypted callback and answers it by its URL, also after a restart", async () => {
  const { fakeServer, start } = await open();
  const first = await start();
  const response = await fakeServer.postCallback(first.url, textMessage("hello"));
  expect([response.status, await response.text()]).toEqual([200, ""]);
  expect(first.running.events).toMatchObject([{ type: "message", text: "hello", addressed: "dm" }]);
  const replyTo = lastMessageId(first.running);
  await first.running.channel.stop({ drainMs: 0 });
  const { running } = await start();
  await running.channel.send(to, { parts: parts("hi"), replyTo }, { idempotencyKey: "k", signal: never });
  expect(fakeServer.sent).toMatchObject([{ chatId: "zhangsan", msgtype: "markdown", shown: ["hi"] }]);
});

it("answers a message once, within an hour, and sends nothing else", async () => {
  const { fakeServer, start, clock } = await open();
  const { running, url } = await start();
  const options = { idempotencyKey: "k", signal: never };
  const refused = { code: "permission", scope: "conversation" };
  await expect(running.channel.send(to, { parts: parts("unasked") }, options)).rejects.toMatchObject(refused);
  await fakeServer.postCallback(url, textMessage("one"));
  const replyTo = lastMessageId(running);
  await expect(
    running.channel.send(to, { parts: parts("first", "second"), replyTo }, options),
  ).rejects.toMatchObject({ ...refused, receipt: { parts: [{ index: 0, messageId: "k.0" }] } });
  await fakeServer.postCallback(url, textMessage("two"));
  clock.advance(limits.responseUrlMs);
  const late = { parts: parts("late"), replyTo: lastMessageId(running) };
  await expect(running.channel.send(to, late, options)).rejects.toMatchObject(refused);
  await expect(running.channel.openDraft?.(to, { ...options, replyTo })).rejects.toMatchObject({
    code: "unsupported",
  });
  expect(fakeServer.sent.map(({ shown }) => shown[0])).toEqual(["first"]);
});

it("never repeats a reply whose response is lost, and repeats one that was refused", async () => {
  const { fakeServer, start } = await open();
  const { running, url } = await start();
  const send = async (text: string) => {
    await fakeServer.postCallback(url, textMessage(text));
    const message = { parts: parts(`answer ${text}`), replyTo: lastMessageId(running) };
    return () => running.channel.send(to, message, { idempotencyKey: "k", signal: never });
  };
  const lost = await send("one");
  fakeServer.fail({ kind: "cut" });
  await expect(lost()).rejects.toMatchObject({ code: "unknown_outcome" });
  await expect(lost()).rejects.toMatchObject({ code: "permission" });
  const limited = await send("two");
  fakeServer.fail({ kind: "rate" });
  await expect(limited()).rejects.toMatchObject({ code: "rate_limited", retryAfterMs: 3_000 });
  await limited();
  expect(fakeServer.sent.map(({ shown }) => shown[0])).toEqual(["answer one", "answer two"]);
});

it("does not store a URL for replies that leads elsewhere", async () => {
  const { start, fakeServer } = await open();
  const { running } = await start();
  const message = {
    ...textMessage("hi"),
    response_url: "http://127.0.0.1:1/cgi-bin/aibot/response?response_code=x",
  };
  const { signature, timestamp, nonce, encrypt } = sealCallback(callbacks, JSON.stringify(message), {
    timestamp: String(Math.floor(Date.now() / 1_000)),
    nonce: "n",
  });
  const query = new URLSearchParams({ msg_signature: signature, timestamp, nonce });
  const body = JSON.stringify({ encrypt });
  const request = new Request(`http://gateway/events?${query}`, { method: "POST", body });
  expect((await running.channel.webhook?.(request))?.status).toBe(200);
  const reply = { parts: parts("hi"), replyTo: lastMessageId(running) };
  await expect(running.channel.send(to, reply, { idempotencyKey: "k", signal: never })).rejects.toMatchObject(
    { code: "permission" },
  );
  expect(fakeServer.sent).toEqual([]);
});

it("ignores events and refreshes of streams", async () => {
  const { fakeServer, start } = await open();
  const { running, url } = await start();
  for (const message of [
    wecomEvent("enter_chat"),
    { ...textMessage("x"), msgtype: "stream", stream: { id: "s" } },
  ])
    expect((await fakeServer.postCallback(url, message)).status).toBe(200);
  expect(running.events).toEqual([]);
});

it("asks for a redelivery if the host cannot store a message", async () => {
  const { fakeServer, start } = await open();
  const { running, url } = await start();
  running.onEmit = async () => "rejected";
  expect((await fakeServer.postCallback(url, textMessage("x"))).status).toBe(503);
});

it.each([
  ["token", { token: "another" }, "Compare token with"],
  ["encodingAesKey", { encodingAesKey: `${"z".repeat(42)}0` }, "Compare encodingAesKey with"],
])(
  "is degraded after a callback that does not fit its %s, until one is verified",
  async (_, wrong, remedy) => {
    const { fakeServer, start } = await open();
    await start();
    const settings = { transport: "webhook", ...callbacks, ...wrong, apiBaseUrl: fakeServer.url };
    await using running = await openChannel(wecom, settings);
    const gateway = await serveWebhook(running.channel);
    onTestFinished(() => gateway.stop());
    expect(running.channel.health()).toEqual({ state: "ready" });
    expect((await fakeServer.postCallback(gateway.url, textMessage("hi"))).status).toBe(401);
    expect(running.channel.health()).toMatchObject({
      state: "degraded",
      reason: expect.stringContaining(remedy),
    });
    expect(await running.channel.checks?.(never)).toMatchObject([
      { about: "webhook" },
      { about: "received", ok: false, remedy: expect.stringContaining(remedy) },
    ]);
  },
);

it("checks that its webhook URL leads to this account", async () => {
  const { start, fakeServer } = await open();
  const { url } = await start();
  const settings = { transport: "webhook", ...callbacks, apiBaseUrl: fakeServer.url, webhookUrl: url };
  await using running = await openChannel(wecom, settings);
  expect(await running.channel.checks?.(never)).toMatchObject([
    { about: "webhook", ok: true },
    { about: "received", ok: true },
  ]);
  const other = { ...settings, token: "another" };
  await using wrong = await openChannel(wecom, other);
  expect(await wrong.channel.checks?.(never)).toMatchObject([{ about: "webhook", ok: false }, {}]);
});

it("signs and encrypts like WeCom's SDK", () => {
  const { token, encodingAesKey } = callbacks;
  const theirs = new WecomCrypto(token, encodingAesKey, "");
  const about = { timestamp: "1767225600", nonce: "n0nce" };
  const text = '{"msgtype":"text","text":{"content":"你好"}}';
  const { encrypt, signature } = theirs.encrypt(text, about.timestamp, about.nonce);
  expect(openCallback(callbacks, { ...about, encrypt, signature })).toEqual({ text });
  const ours = sealCallback(callbacks, text, about);
  expect(theirs.verifySignature(ours.signature, about.timestamp, about.nonce, ours.encrypt)).toBe(true);
  expect(theirs.decrypt(ours.encrypt)).toBe(text);
});
