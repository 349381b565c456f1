import type { OutboundPart } from "@signalbox/channel";
import { textMessage } from "@signalbox/testkit/wecom";
import { describe, expect, it, onTestFinished } from "vitest";
import { formatMessageId } from "../src/address.ts";
import { limits } from "../src/limits.ts";
import { createShiftedClock, never, openBench } from "./harness.ts";

const to = { type: "single", id: "zhangsan" } as const;
const text = (...texts: string[]) => texts.map((one): OutboundPart => ({ type: "text", text: one }));

async function open() {
  const clock = createShiftedClock();
  const bench = await openBench({}, { context: { clock } });
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const { fakeServer } = bench;
  fakeServer.expectReply("req-1", to.id);
  const replyTo = formatMessageId({ msgid: "m1", reqId: "req-1", sentAt: Date.now() });
  const commands = () => fakeServer.frames.map(({ cmd }) => cmd).filter((cmd) => cmd !== "aibot_subscribe");
  return { ...bench, clock, replyTo, commands };
}

describe("send", () => {
  it("answers a received message on its req_id", async () => {
    const { channel, fakeServer, events } = await open();
    fakeServer.pushMessage(textMessage("hello", { msgid: "m/2=" }), "req:2");
    await expect.poll(() => events).toHaveLength(1);
    const [event] = events;
    if (event?.type !== "message") throw new Error("No message was received.");
    const message = { parts: text("hi"), replyTo: event.messageId };
    await channel.send(to, message, { idempotencyKey: "k", signal: never });
    expect(fakeServer.frames.at(-1)).toMatchObject({ cmd: "aibot_respond_msg", reqId: "req:2" });
  });

  it("sends all parts of an answer as replies, each with a stream of its own", async () => {
    const { channel, fakeServer, replyTo, commands } = await open();
    await channel.send(to, { parts: text("one", "two"), replyTo }, { idempotencyKey: "k", signal: never });
    expect(commands()).toEqual(["aibot_respond_msg", "aibot_respond_msg"]);
    expect(fakeServer.sent.map(({ id, shown }) => [id, ...shown])).toEqual([
      ["k.0", "one"],
      ["k.1", "two"],
    ]);
  });

  it("sends all parts without a reply if WeCom no longer accepts one", async () => {
    const { channel, fakeServer, commands } = await open();
    const replyTo = formatMessageId({ msgid: "m1", reqId: "forgotten", sentAt: Date.now() });
    await channel.send(to, { parts: text("one", "two"), replyTo }, { idempotencyKey: "k", signal: never });
    expect(commands()).toEqual([
      "aibot_respond_msg",
      "aibot_send_msg",
      "aibot_respond_msg",
      "aibot_send_msg",
    ]);
    expect(fakeServer.sent.map(({ msgtype, shown }) => [msgtype, ...shown])).toEqual([
      ["markdown", "one"],
      ["markdown", "two"],
    ]);
  });

  it("does not try to reply to a message that is older than a day", async () => {
    const { channel, clock, replyTo, commands } = await open();
    clock.advance(limits.replyWindowMs + 1_000);
    await channel.send(to, { parts: text("one"), replyTo }, { idempotencyKey: "k", signal: never });
    expect(commands()).toEqual(["aibot_send_msg"]);
  });

  it("does not send a reply again that was sent with the same key", async () => {
    const { channel, fakeServer, replyTo } = await open();
    const message = { parts: text("one"), replyTo };
    const first = await channel.send(to, message, { idempotencyKey: "k", signal: never });
    const again = await channel.send(to, message, { idempotencyKey: "k", signal: never });
    expect(again).toEqual(first);
    expect(fakeServer.sent).toHaveLength(1);
  });

  it("breaks mentions and turns images into links", async () => {
    const { channel, fakeServer } = await open();
    const markdown = "Hello <@all> ![plan](https://x.example/a.png) `a`";
    const parts = [{ type: "markdown", text: markdown }, ...text("<@zhangsan>")] as const;
    await channel.send(to, { parts }, { idempotencyKey: "k", signal: never });
    expect(fakeServer.sent.map(({ shown }) => shown[0])).toEqual([
      "Hello <\u200b@all> [plan](https://x.example/a.png) `a`",
      "<\u200b@zhangsan>",
    ]);
  });

  it("fails with not_found for a person who has never written to the bot", async () => {
    const { channel } = await open();
    const stranger = { type: "single", id: "stranger" } as const;
    await expect(
      channel.send(stranger, { parts: text("one") }, { idempotencyKey: "k", signal: never }),
    ).rejects.toMatchObject({ code: "not_found", scope: "conversation", platformCode: "40003" });
  });

  it("does not take a late acknowledgment for that of the next frame with the same req_id", async () => {
    const { channel, fakeServer, replyTo, commands } = await open();
    fakeServer.fail({ kind: "hang" });
    const caller = new AbortController();
    const options = { idempotencyKey: "one", signal: caller.signal };
    const first = channel.send(to, { parts: text("one"), replyTo }, options);
    first.catch(() => {});
    await expect.poll(() => fakeServer.sent).toHaveLength(1);
    caller.abort();
    await expect(first).rejects.toMatchObject({ code: "unknown_outcome" });
    const next = { idempotencyKey: "two", signal: never };
    const second = channel.send(to, { parts: text("two"), replyTo }, next);
    second.catch(() => {});
    await channel.send(to, { parts: text("pushed") }, { idempotencyKey: "pushed", signal: never });
    // The second frame is not sent while the first one may still be acknowledged.
    expect(commands()).toEqual(["aibot_respond_msg", "aibot_send_msg"]);
    fakeServer.sendText(JSON.stringify({ headers: { req_id: "req-1" }, errcode: 0, errmsg: "ok" }));
    await second;
    expect(fakeServer.sent.map(({ id }) => id)).toEqual(["one.0", "aibot_send_msg_pushed.0", "two.0"]);
  });

  it("replaces a connection on which a frame is not acknowledged", async () => {
    const { channel, fakeServer } = await open();
    fakeServer.fail({ kind: "hang" });
    const sending = channel.send(to, { parts: text("one") }, { idempotencyKey: "one", signal: never });
    await expect(sending).rejects.toMatchObject({ code: "unknown_outcome" });
    await channel.send(to, { parts: text("two") }, { idempotencyKey: "two", signal: never });
    expect(fakeServer.frames.filter(({ cmd }) => cmd === "aibot_subscribe")).toHaveLength(2);
  });

  it("removes control characters from the names of attachments", async () => {
    const { channel, fakeServer } = await open();
    const part = {
      type: "media",
      kind: "file",
      name: "a\u0007\u0000.txt",
      mimeType: "text/plain",
      size: 7,
      ref: 1,
    } as const;
    const openMedia = async () => new Blob(["content"]).stream();
    await channel.send(to, { parts: [part] }, { idempotencyKey: "k", signal: never, openMedia });
    expect(fakeServer.upload(fakeServer.sent[0]?.mediaId ?? "")?.filename).toBe("a.txt");
  });
});

describe("drafts", () => {
  async function openDraft() {
    const bench = await open();
    const draft = async () => {
      const opened = await bench.channel.openDraft?.(to, {
        idempotencyKey: "d",
        signal: never,
        replyTo: bench.replyTo,
        messageId: "d.0",
      });
      if (opened === undefined) throw new Error("There are no drafts.");
      return opened;
    };
    return { ...bench, draft };
  }

  it("are refused unless they reply to a message of the last day", async () => {
    const { channel, clock, replyTo } = await open();
    const options = { idempotencyKey: "d", signal: never };
    await expect(channel.openDraft?.(to, options)).rejects.toMatchObject({ code: "unsupported" });
    clock.advance(limits.replyWindowMs + 1_000);
    await expect(channel.openDraft?.(to, { ...options, replyTo })).rejects.toMatchObject({
      code: "unsupported",
    });
  });

  it("continue after an update whose acknowledgment is lost", async () => {
    const { channel, fakeServer, replyTo } = await openDraft();
    const draft = await channel.openDraft?.(to, { idempotencyKey: "d", signal: never, replyTo });
    fakeServer.fail({ kind: "hang" });
    await expect(draft?.update("thin")).rejects.toMatchObject({ code: "unknown_outcome" });
    await draft?.update("think");
    expect(draft?.messageId).toBe("d.0");
    await draft?.finalize({ parts: text("thought") });
    expect(fakeServer.sent.map(({ shown }) => shown)).toEqual([["thin", "think", "think", "thought"]]);
  });

  it("are finished once, although the acknowledgment is lost and another draft repeats it", async () => {
    const { draft, fakeServer, clock } = await openDraft();
    // The question is old, so its age does not show that the stream cannot have expired.
    clock.advance(limits.streamWindowMs + 1_000);
    await (await draft()).update("thin");
    fakeServer.fail({ kind: "hang" });
    await expect((await draft()).finalize({ parts: text("think") })).rejects.toMatchObject({
      code: "unknown_outcome",
    });
    const receipt = await (await draft()).finalize({ parts: text("think") });
    expect(receipt.parts).toEqual([{ index: 0, messageId: "d.0" }]);
    expect(fakeServer.sent.map(({ shown }) => shown.at(-1))).toEqual(["think"]);
  });

  it("cannot be finished after WeCom has ended their stream, so that the answer is sent separately", async () => {
    const { draft, fakeServer, clock } = await openDraft();
    await (await draft()).update("thin");
    fakeServer.age(600_001);
    clock.advance(600_001);
    await expect((await draft()).finalize({ parts: text("think") })).rejects.toMatchObject({
      code: "unsupported",
    });
  });

  it("end as an ellipsis if they are aborted, because WeCom cannot delete messages", async () => {
    const { draft, fakeServer } = await openDraft();
    await (await draft()).update("thin");
    await (await draft()).abort();
    expect(fakeServer.sent).toMatchObject([{ shown: ["thin", "…"], isFinished: true }]);
  });
});
