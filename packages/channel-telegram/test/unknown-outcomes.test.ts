import type { OutboundPart, SendIntent } from "@signalbox/channel";
import { person, textMessage } from "@signalbox/testkit/telegram";
import { describe, expect, it } from "vitest";
import type { TelegramAddress } from "../src/index.ts";
import { type Bench, never, openBench, webhookSecret } from "./harness.ts";

const to = { chatId: "5001" };
const text = { type: "text", text: "the answer" } as const;
const options = { idempotencyKey: "k", signal: never };

function send({ channel }: Bench, part: OutboundPart = text, key = "k") {
  return channel.send(to, { parts: [part] }, { ...options, idempotencyKey: key });
}

function lookUp({ channel }: Bench, intent: Partial<SendIntent<TelegramAddress>> = {}) {
  return channel.reconcile?.(
    { to, idempotencyKey: "k", part: 0, content: text, attemptedAt: Date.now(), ...intent },
    never,
  );
}

const webhook = { transport: "webhook", webhookSecret } as const;

/** A channel that has received a message with this id. */
async function openWith(messageId: number): Promise<Bench> {
  const bench = await openBench(webhook);
  await hear(bench, messageId);
  return bench;
}

async function hear(bench: Bench, messageId: number, chatId = 5001): Promise<void> {
  const from = { ...person, id: chatId };
  const update = textMessage("hello", { messageId, updateId: messageId, from });
  bench.fakeServer.take(update);
  const response = await bench.channel.webhook?.(
    new Request("http://gateway/updates", {
      method: "POST",
      headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": webhookSecret },
      body: JSON.stringify(update),
    }),
  );
  expect(response?.status).toBe(200);
}

it("is not looked up if other hosts send through the account, because a probe would change their messages", async () => {
  await using bench = await openBench(webhook, { context: { isShared: true } });
  await hear(bench, 1);
  await using other = await openBench(webhook, { context: { isShared: true }, fakeServer: bench.fakeServer });
  await send(other, { type: "text", text: "another answer" }, "other");
  bench.fakeServer.fail({ kind: "cut" });
  await expect(send(bench)).rejects.toMatchObject({ code: "unknown_outcome" });
  expect(await lookUp(bench)).toEqual({ outcome: "unknown" });
  expect(bench.fakeServer.sent.map(({ texts }) => texts)).toEqual([["another answer"], ["the answer"]]);
});

describe("a failed send", () => {
  it.each([
    ["an HTML page with 502", { status: 502 }],
    ["an HTML page with 503", { status: 503 }],
    ["JSON with 502", { status: 502, body: '{"error":"bad gateway"}' }],
    ["JSON with 403", { status: 403, body: '{"error":"denied"}' }],
  ])("was certainly not sent if a proxy answers %s", async (_, fault) => {
    await using bench = await openBench(webhook);
    bench.fakeServer.fail({ kind: "status", ...fault });
    await expect(send(bench)).rejects.toMatchObject({ code: "transient", scope: "account" });
    await send(bench);
    expect(bench.fakeServer.sent).toHaveLength(1);
  });

  it.each([
    ["Telegram answers 502", { kind: "refuse", status: 502, description: "Bad Gateway" }],
    ["a proxy answers 504", { kind: "status", status: 504 }],
    ["the response is not JSON", { kind: "status", status: 200 }],
    ["the connection breaks before the response", { kind: "cut" }],
  ] as const)("was perhaps sent if %s", async (_, fault) => {
    await using bench = await openBench(webhook);
    bench.fakeServer.fail(fault);
    await expect(send(bench)).rejects.toMatchObject({ code: "unknown_outcome" });
  });

  it("was certainly not sent if Telegram cannot be reached", async () => {
    await using bench = await openBench(webhook);
    await bench.fakeServer.stop();
    await expect(send(bench)).rejects.toMatchObject({ code: "transient" });
  });

  it("respects the Retry-After of a proxy", async () => {
    await using bench = await openBench(webhook);
    bench.fakeServer.answerAt(
      "/bot",
      () => new Response("busy", { status: 429, headers: { "retry-after": "7" } }),
    );
    await expect(send(bench)).rejects.toMatchObject({ code: "rate_limited", retryAfterMs: 7_000 });
  });
});

describe("an edit, a deletion or a reaction without a response", () => {
  it("can be repeated", async () => {
    await using bench = await openBench(webhook);
    const { parts } = await send(bench);
    const messageId = parts[0]?.messageId ?? "";
    const { channel, fakeServer } = bench;
    const transient = { code: "transient" };
    fakeServer.fail({ kind: "cut", path: "editMessageText" });
    const changed = { parts: [{ type: "text", text: "changed" }] } as const;
    await expect(channel.edit?.(to, messageId, changed, never)).rejects.toMatchObject(transient);
    await channel.edit?.(to, messageId, changed, never);
    fakeServer.fail({ kind: "cut", path: "setMessageReaction" });
    const reaction = { emoji: "👍", on: true };
    await expect(channel.react?.(to, messageId, reaction, never)).rejects.toMatchObject(transient);
    fakeServer.fail({ kind: "cut", path: "deleteMessage" });
    await expect(channel.remove?.(to, messageId, never)).rejects.toMatchObject(transient);
    expect(fakeServer.sent).toMatchObject([{ texts: ["the answer", "changed"], deleted: true }]);
  });
});

describe("a message with an unknown outcome", () => {
  it("is found if it was sent, also between messages of other chats", async () => {
    await using bench = await openWith(70);
    bench.fakeServer.plant(6001, 71);
    bench.fakeServer.fail({ kind: "cut" });
    await expect(send(bench)).rejects.toThrow();
    await hear(bench, 73, 6002);
    expect(await lookUp(bench)).toEqual({ outcome: "sent", messageId: "5001:72" });
    expect(bench.fakeServer.sent).toMatchObject([{ texts: ["the answer"] }]);
  });

  it("was not sent if no id that it can have is its own", async () => {
    await using bench = await openWith(70);
    bench.fakeServer.fail({ kind: "refuse", status: 502, description: "Bad Gateway" });
    await expect(send(bench)).rejects.toThrow();
    expect(await lookUp(bench)).toEqual({ outcome: "not_sent" });
    await send(bench);
    expect(bench.fakeServer.sent).toHaveLength(1);
  });

  it("is not mistaken for a message that was sent with a receipt", async () => {
    await using bench = await openWith(70);
    bench.fakeServer.fail({ kind: "refuse", status: 502, description: "Bad Gateway" });
    await expect(send(bench)).rejects.toThrow();
    await send(bench, text, "another");
    expect(await lookUp(bench)).toEqual({ outcome: "not_sent" });
  });

  it("stays unknown while another message to the chat has no known id", async () => {
    await using bench = await openWith(1);
    bench.fakeServer.fail({ kind: "cut", times: 2 });
    await expect(send(bench)).rejects.toMatchObject({ code: "unknown_outcome" });
    const other = { chatId: to.chatId, topicId: "45" };
    const sent = bench.channel.send(
      other,
      { parts: [{ type: "text", text: "to a topic" }] },
      { ...options, idempotencyKey: "other" },
    );
    await expect(sent).rejects.toMatchObject({ code: "unknown_outcome" });
    expect(await lookUp(bench)).toEqual({ outcome: "unknown" });
    expect(bench.fakeServer.sent.map(({ text: current }) => current)).toEqual(["the answer", "to a topic"]);
  });

  it("makes new messages to the chat wait until it was looked for", async () => {
    await using bench = await openWith(1);
    bench.fakeServer.fail({ kind: "cut" });
    await expect(send(bench)).rejects.toMatchObject({ code: "unknown_outcome" });
    const [found] = await Promise.all([lookUp(bench), send(bench, { type: "text", text: "next" }, "next")]);
    expect(found).toMatchObject({ outcome: "sent" });
    expect(bench.fakeServer.sent.map(({ text: current }) => current)).toEqual(["the answer", "next"]);
  });

  it("is found if it is a file", async () => {
    await using bench = await openWith(70);
    const content = new Uint8Array([1, 2, 3]);
    const part = { type: "media", kind: "file", name: "a", mimeType: "text/plain", size: 3, ref: 1 } as const;
    bench.fakeServer.fail({ kind: "cut", path: "sendDocument" });
    const openMedia = async () => new Blob([content]).stream();
    await expect(bench.channel.send(to, { parts: [part] }, { ...options, openMedia })).rejects.toThrow();
    expect(await lookUp(bench, { content: part })).toEqual({ outcome: "sent", messageId: "5001:71" });
  });

  it("stays unknown after a restart, because looking for it could change another message", async () => {
    await using first = await openWith(70);
    await send(first, text, "earlier");
    first.fakeServer.fail({ kind: "refuse", status: 502, description: "Bad Gateway" });
    const other = { type: "text", text: "another answer" } as const;
    await expect(send(first, other)).rejects.toThrow();
    await using second = await openBench(webhook, { fakeServer: first.fakeServer });
    await hear(second, 72);
    expect(await lookUp(second, { content: other, replyTo: "5001:70" })).toEqual({ outcome: "unknown" });
    expect(first.fakeServer.sent).toMatchObject([{ texts: ["the answer"] }]);
  });

  it("stays unknown if it has buttons, because looking for it could change another message", async () => {
    await using bench = await openWith(70);
    const part = { type: "buttons", text: "Go on?", buttons: [{ id: "yes", label: "Yes" }] } as const;
    bench.fakeServer.fail({ kind: "cut" });
    await expect(send(bench, part)).rejects.toThrow();
    expect(await lookUp(bench, { content: part })).toEqual({ outcome: "unknown" });
  });

  it("is looked for again if Telegram cannot be asked yet", async () => {
    await using bench = await openWith(70);
    bench.fakeServer.fail({ kind: "cut" });
    await expect(send(bench)).rejects.toThrow();
    bench.fakeServer.fail({ kind: "status", path: "editMessageText" });
    await expect(lookUp(bench)).rejects.toMatchObject({ code: "transient" });
    expect(await lookUp(bench)).toMatchObject({ outcome: "sent" });
  });
});
