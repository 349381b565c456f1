import type { Reference } from "@signalbox/channel";
import { describe, expect, it } from "vitest";
import { type Bench, bot, channelId, openBench, otherBot, threadId, until, zhang } from "./harness.ts";

const mention = `<@${bot.id}>`;

async function referencesOf(bench: Bench, happen: () => void): Promise<readonly Reference[] | undefined> {
  const before = bench.events.length;
  happen();
  await until(() => bench.events.length > before);
  const event = bench.events.at(-1);
  return event?.type === "message" ? (event.references ?? []) : undefined;
}

/** Delivers a reply whose event lacks the message that it replies to, as Discord may do. */
function replyWithoutMessage({ fakeServer }: Bench, content: string, replyTo: string): void {
  const { referenced_message: _, ...event } = fakeServer.eventOf(
    fakeServer.plant({ channelId, authorId: zhang, content, replyTo }),
  );
  fakeServer.gateway.dispatch("MESSAGE_CREATE", event);
}

describe("a reply", () => {
  it("refers to the message with its author and files", async () => {
    await using bench = await openBench();
    const picture = { id: "9001", name: "plan.png", mimeType: "image/png", content: new Uint8Array(4) };
    const { id } = bench.fakeServer.plant({
      channelId,
      authorId: otherBot,
      content: "the plan",
      attachments: [picture],
    });
    const say = () =>
      void bench.fakeServer.say({
        channelId,
        authorId: zhang,
        content: `${mention} what is this?`,
        replyTo: id,
      });
    expect(await referencesOf(bench, say)).toMatchObject([
      {
        kind: "reply",
        messageId: id,
        sender: { id: otherBot, isBot: true, isSelf: false },
        text: "the plan",
        media: [{ name: "plan.png" }],
      },
    ]);
  });

  it("is completed by a lookup if the event lacks the message", async () => {
    await using bench = await openBench();
    const { id } = bench.fakeServer.plant({ channelId, authorId: otherBot, content: "build 7 failed" });
    const deliver = () => replyWithoutMessage(bench, `${mention} and this?`, id);
    expect(await referencesOf(bench, deliver)).toMatchObject([{ messageId: id, text: "build 7 failed" }]);
  });

  it("addresses the bot by that lookup too", async () => {
    await using bench = await openBench();
    const { id } = bench.fakeServer.plant({ channelId, authorId: bot.id, content: "which one?" });
    const deliver = () => replyWithoutMessage(bench, "the first", id);
    expect(await referencesOf(bench, deliver)).toMatchObject([
      { messageId: id, text: "which one?", sender: { isSelf: true } },
    ]);
    expect(bench.events).toMatchObject([{ addressed: "reply" }]);
  });

  it("contains only the id of a message that is gone, without a lookup if Discord says so", async () => {
    await using bench = await openBench();
    const lookups = () =>
      bench.fakeServer.requests.filter(({ path }) => path.endsWith("/messages/123")).length;
    const deliver = () => replyWithoutMessage(bench, mention, "123");
    expect(await referencesOf(bench, deliver)).toEqual([{ kind: "reply", messageId: "123" }]);
    expect(lookups()).toBe(1);
    const say = () =>
      void bench.fakeServer.say({ channelId, authorId: zhang, content: mention, replyTo: "123" });
    expect(await referencesOf(bench, say)).toEqual([{ kind: "reply", messageId: "123" }]);
    expect(lookups()).toBe(1);
  });
});

describe("a thread", () => {
  it("refers to the message it was started from, once", async () => {
    await using bench = await openBench();
    bench.fakeServer.plant({
      id: threadId,
      channelId,
      authorId: zhang,
      content: "The order number is 4711.",
    });
    const say = () =>
      void bench.fakeServer.say({
        channelId: threadId,
        authorId: zhang,
        content: `${mention} summarise this`,
      });
    expect(await referencesOf(bench, say)).toMatchObject([
      { kind: "thread", messageId: threadId, text: "The order number is 4711.", sender: { id: zhang } },
    ]);
    expect(await referencesOf(bench, say)).toEqual([]);
  });

  it("that is a forum post refers to its first message", async () => {
    await using bench = await openBench();
    bench.fakeServer.plant({ id: "7003", channelId: "7003", authorId: zhang, content: "How do I reset it?" });
    const say = () =>
      void bench.fakeServer.say({ channelId: "7003", authorId: zhang, content: `${mention} please help` });
    expect(await referencesOf(bench, say)).toMatchObject([{ kind: "thread", text: "How do I reset it?" }]);
  });

  it("is answered without that message if Discord does not return it", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "status", status: 503, path: `/messages/${threadId}` });
    const say = () =>
      void bench.fakeServer.say({ channelId: threadId, authorId: zhang, content: `${mention} hello` });
    expect(await referencesOf(bench, say)).toEqual([]);
  });
});

describe("another message", () => {
  const alert = {
    type: "rich",
    title: "CPU at 97 %",
    fields: [{ name: "Host", value: "web-3" }],
    image: { url: "https://cdn.discordapp.com/attachments/1/2/chart.png?ex=7fffffff" },
  };

  it("that is a forward has the forwarded text and files", async () => {
    await using bench = await openBench();
    const attachments = [{ id: "77", url: "https://cdn.discordapp.com/a.png", content_type: "image/png" }];
    const { id } = bench.fakeServer.plant({
      channelId,
      authorId: zhang,
      more: {
        message_reference: { type: 1, message_id: "5", channel_id: "6" },
        message_snapshots: [{ message: { content: "The harbour is closed.", attachments } }],
      },
    });
    const say = () =>
      void bench.fakeServer.say({
        channelId,
        authorId: zhang,
        content: `${mention} until when?`,
        replyTo: id,
      });
    expect(await referencesOf(bench, say)).toMatchObject([
      {
        kind: "reply",
        sender: { id: zhang },
        text: "[forwarded]\nThe harbour is closed.",
        media: [{ ref: { messageId: id, attachmentId: "77" } }],
      },
    ]);
  });

  it("of a bot has its embeds in addition to its text, with uploaded images", async () => {
    await using bench = await openBench();
    const { id } = bench.fakeServer.plant({
      channelId,
      authorId: otherBot,
      content: "New alert",
      more: { embeds: [alert, { type: "article", title: "a preview of a link" }] },
    });
    const say = () =>
      void bench.fakeServer.say({ channelId, authorId: zhang, content: `${mention} why?`, replyTo: id });
    expect(await referencesOf(bench, say)).toMatchObject([
      {
        text: "New alert\n\nCPU at 97 %\nHost: web-3",
        media: [{ kind: "image", ref: { messageId: id, url: alert.image.url } }],
      },
    ]);
  });

  it("of a person does not have the previews of its links", async () => {
    await using bench = await openBench();
    const { id } = bench.fakeServer.plant({
      channelId,
      authorId: zhang,
      content: "see https://example.com",
      more: { embeds: [alert] },
    });
    const say = () =>
      void bench.fakeServer.say({ channelId, authorId: zhang, content: `${mention} why?`, replyTo: id });
    expect(await referencesOf(bench, say)).toMatchObject([{ text: "see https://example.com", media: [] }]);
  });

  it("that answers a command of another bot is received", async () => {
    await using bench = await openBench();
    bench.fakeServer.say({ channelId, authorId: otherBot, content: "Build 7 failed.", more: { type: 20 } });
    await until(() => bench.events.length > 0);
    expect(bench.events).toMatchObject([
      { type: "message", text: "Build 7 failed.", sender: { isBot: true } },
    ]);
  });
});
