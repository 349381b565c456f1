import {
  type ButtonsPart,
  type Clock,
  type MediaPart,
  type Outbound,
  type OutboundMediaKind,
  type OutboundPart,
  systemClock,
} from "@signalbox/channel";
import { click, commandMessage, groupMention, startTelegram, textMessage } from "@signalbox/testkit/telegram";
import { describe, expect, it } from "vitest";
import { never, openBench, token } from "./harness.ts";

const options = { idempotencyKey: "k", signal: never };
const to = { chatId: "5001" };

function attachment(kind: OutboundMediaKind, mimeType: string) {
  const content = new Uint8Array([1, 2, 3]);
  const part: MediaPart = { type: "media", kind, name: "a", mimeType, size: content.length, ref: 1 };
  return { part, openMedia: async () => new Blob([content]).stream() };
}

function message(part: OutboundPart, replyTo?: string): Outbound {
  return { parts: [part], replyTo };
}

describe("sending messages", () => {
  it("works on a host that has not started the account", async () => {
    await using bench = await openBench({}, { start: false });
    await bench.channel.send(to, message({ type: "text", text: "hello" }), options);
    expect(bench.fakeServer.sent.map(({ text }) => text)).toEqual(["hello"]);
  });

  it("formats Markdown with entities", async () => {
    await using bench = await openBench();
    const text = "Use **bold _and italic_**, `a*b` and [docs](https://example.org/x_y_) \\* 1 < 2 [";
    await bench.channel.send(to, message({ type: "markdown", text }), options);
    const [sent] = bench.fakeServer.sent;
    expect(sent?.text).toBe("Use bold and italic, a*b and docs * 1 < 2 [");
    const marked = sent?.entities.map(({ type, offset, length }) => [
      type,
      sent.text.slice(Number(offset), Number(offset) + Number(length)),
    ]);
    expect(marked).toEqual([
      ["bold", "bold and italic"],
      ["italic", "and italic"],
      ["code", "a*b"],
      ["text_link", "docs"],
    ]);
  });

  it("disables link previews, which Telegram would fetch before anyone taps", async () => {
    await using bench = await openBench();
    const link = { type: "text", text: "see https://x.example/?said=this" } as const;
    const { parts } = await bench.channel.send(to, message(link), options);
    await bench.channel.edit?.(to, parts[0]?.messageId ?? "", message({ ...link, type: "markdown" }), never);
    const written = bench.fakeServer.requests.filter(({ path }) => /Message(?:Text)?$/.test(path));
    expect(written.map(({ text }) => JSON.parse(text).link_preview_options)).toEqual([
      { is_disabled: true },
      { is_disabled: true },
    ]);
  });

  it("sends into the topic and quotes the message, or omits the quote if the message is gone", async () => {
    await using bench = await openBench();
    const topic = { chatId: "-1001234", topicId: "17" };
    const text = { type: "text", text: "yes" } as const;
    await bench.channel.send(topic, message(text, "-1001234:99"), options);
    bench.fakeServer.plant(-1_001_234, 7);
    await bench.channel.send(topic, message(text, "-1001234:7"), options);
    expect(bench.fakeServer.sent).toMatchObject([{ topicId: 17 }, { topicId: 17, replyTo: 7 }]);
    expect(bench.fakeServer.sent[0]?.replyTo).toBeUndefined();
  });

  it("edits and deletes messages only in their own chat", async () => {
    await using bench = await openBench();
    const text = { type: "text", text: "yes" } as const;
    const { parts } = await bench.channel.send(to, message(text), options);
    const messageId = parts[0]?.messageId ?? "";
    await expect(bench.channel.remove?.({ chatId: "5002" }, messageId, never)).rejects.toMatchObject({
      code: "not_found",
    });
    // An edit that changes nothing succeeds.
    await bench.channel.edit?.(to, messageId, message(text), never);
    await bench.channel.edit?.(to, messageId, message({ type: "markdown", text: "*no*" }), never);
    expect(bench.fakeServer.sent).toMatchObject([{ text: "no", texts: ["yes", "no"] }]);
    await bench.channel.remove?.(to, messageId, never);
    expect(bench.fakeServer.sent).toMatchObject([{ deleted: true }]);
  });

  it("reports Telegram's reason for rejecting a message", async () => {
    await using bench = await openBench({}, { chats: [5_001, 5_003] });
    const send = (chatId: string) =>
      bench.channel.send({ chatId }, message({ type: "text", text: "hello" }), options);
    bench.fakeServer.block(5_003);
    await expect(send("5002")).rejects.toMatchObject({ code: "not_found", scope: "conversation" });
    await expect(send("5003")).rejects.toMatchObject({ code: "permission", scope: "conversation" });
    bench.fakeServer.fail({ kind: "rate", retryAfter: 30 });
    await expect(send("5001")).rejects.toMatchObject({ code: "rate_limited", retryAfterMs: 30_000 });
  });

  it.each([
    { how: "closed", replyTo: undefined },
    { how: "deleted", replyTo: 7 },
  ] as const)("sends to the chat if the topic is $how", async ({ how, replyTo }) => {
    await using bench = await openBench();
    bench.fakeServer.take(
      textMessage("q", { messageId: 7, topicId: 17, chat: { id: -1_001_234, type: "supergroup" } }),
    );
    bench.fakeServer.refuseTopic(-1_001_234, 17, how);
    const topic = { chatId: "-1001234", topicId: "17" };
    const { part, openMedia } = attachment("image", "image/png");
    await bench.channel.send(topic, message(part, "-1001234:7"), { ...options, openMedia });
    await bench.channel.send(topic, message({ type: "markdown", text: "**yes**" }, "-1001234:7"), options);
    expect(bench.fakeServer.sent).toMatchObject([{ media: { kind: "photo" } }, { text: "yes" }]);
    expect(bench.fakeServer.sent.map((sent) => [sent.topicId, sent.replyTo])).toEqual([
      [undefined, replyTo],
      [undefined, replyTo],
    ]);
  });

  it("follows a group that becomes a supergroup", async () => {
    await using bench = await openBench();
    const group = { chatId: "-77" };
    const text = (words: string) => message({ type: "text", text: words }, "-77:7");
    bench.fakeServer.take(textMessage("q", { messageId: 7, chat: { id: -77, type: "group" } }));
    await bench.channel.send(group, text("before"), options);
    bench.fakeServer.migrate(-77, -1_001_234);
    const learned = await bench.channel.send(group, text("after"), { ...options, idempotencyKey: "k2" });
    await bench.channel.send(group, text("later"), { ...options, idempotencyKey: "k3" });
    expect(bench.fakeServer.sent).toMatchObject([
      { chatId: "-77", replyTo: 7 },
      { chatId: "-1001234", text: "after" },
      { chatId: "-1001234", text: "later" },
    ]);
    expect(bench.fakeServer.sent[1]?.replyTo).toBeUndefined();
    const messageId = learned.parts[0]?.messageId ?? "";
    await bench.channel.edit?.(group, messageId, message({ type: "text", text: "edited" }), never);
    expect(bench.fakeServer.sent[1]?.text).toBe("edited");
    // The refusal was met once.
    const calls = bench.fakeServer.requests.filter(({ path }) => path.endsWith("/sendMessage"));
    expect(calls).toHaveLength(4);
  });

  it("sends plain text if Telegram rejects the formatting", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "refuse", description: "Bad Request: ENTITY_TEXT_INVALID" });
    await bench.channel.send(
      to,
      message({ type: "markdown", text: "**yes**, [it](https://e.org)" }),
      options,
    );
    expect(bench.fakeServer.sent).toMatchObject([{ text: "yes, it (https://e.org)", entities: [] }]);
  });

  it("sends an image as a document if Telegram rejects it as a photo", async () => {
    await using bench = await openBench();
    const { part, openMedia } = attachment("image", "image/png");
    bench.fakeServer.fail({
      kind: "refuse",
      path: "sendPhoto",
      description: "Bad Request: PHOTO_INVALID_DIMENSIONS",
    });
    const { parts } = await bench.channel.send(to, message(part), { ...options, openMedia });
    expect(parts).toHaveLength(1);
    expect(bench.fakeServer.sent).toMatchObject([{ media: { kind: "document", file: { name: "a" } } }]);
  });

  it("reacts with an emoji that Telegram supports", async () => {
    await using bench = await openBench();
    bench.fakeServer.plant(5_001, 7);
    const react = (emoji: string, on: boolean) => bench.channel.react?.(to, "5001:7", { emoji, on }, never);
    await react("👍", true);
    expect(bench.fakeServer.reactions(5_001, 7)).toEqual(["👍"]);
    await react("👍", false);
    expect(bench.fakeServer.reactions(5_001, 7)).toEqual([]);
    await expect(react("🦖", true)).rejects.toMatchObject({ code: "unsupported" });
  });
});

describe("buttons", () => {
  const question: ButtonsPart = {
    type: "buttons",
    text: "May it run?",
    buttons: [
      { id: "yes", label: "Allow" },
      {
        id: "approve",
        label: "Deny",
        value: { id: "01JZZZZZZZZZZZZZZZZZZZZZZZ", answer: "deny", why: "x".repeat(80) },
      },
    ],
  };

  it("return their values, even over Telegram's 64 bytes, and disappear after a decision", async () => {
    await using bench = await openBench();
    const { parts } = await bench.channel.send(to, { parts: [question] }, options);
    const sent = bench.fakeServer.sent[0];
    const keyboard = sent?.keyboard as { inline_keyboard: { callback_data: string }[][] };
    for (const [button] of keyboard.inline_keyboard)
      await bench.fakeServer.push(
        click(button?.callback_data ?? "", { chatId: "5001", messageId: sent?.messageId ?? 0 }),
      );
    expect(bench.events).toMatchObject([
      { type: "action", actionId: "yes", addressed: "dm", messageId: parts[0]?.messageId },
      { type: "action", actionId: "approve", value: question.buttons[1]?.value },
    ]);
    expect(bench.fakeServer.answered).toHaveLength(2);
    await bench.channel.edit?.(
      to,
      parts[0]?.messageId ?? "",
      message({ type: "text", text: "Denied." }),
      never,
    );
    expect(bench.fakeServer.sent[0]).toMatchObject({ text: "Denied.", keyboard: undefined });
  });

  it("shorten long labels without splitting a character", async () => {
    await using bench = await openBench();
    const buttons = [{ id: "long", label: `${"a".repeat(63)}😀 and more` }];
    await bench.channel.send(to, message({ ...question, buttons }), options);
    expect(bench.fakeServer.sent[0]?.keyboard).toMatchObject({
      inline_keyboard: [[{ text: `${"a".repeat(63)}…` }]],
    });
  });

  it("are ignored if this channel did not create them", async () => {
    await using bench = await openBench();
    for (const data of ["#unknown", "{}", '{"id":1}', "approve"])
      await bench.fakeServer.push(click(data, { chatId: "5001", messageId: 1 }));
    expect(bench.events).toEqual([]);
    expect(bench.fakeServer.answered).toHaveLength(4);
  });
});

describe("commands", () => {
  const commands = [
    { name: "new", description: "Begins anew", usage: "[message]" },
    { name: "help", description: "What there is" },
  ] as const;

  it("are registered only if Telegram's list differs", async () => {
    await using first = await openBench({}, { context: { commands } });
    const { fakeServer } = first;
    await expect
      .poll(() => fakeServer.commands.list)
      .toEqual([
        { command: "new", description: "Begins anew ([message])" },
        { command: "help", description: "What there is" },
      ]);
    await using _again = await openBench({}, { fakeServer, context: { commands } });
    const asked = () => fakeServer.requests.filter(({ path }) => path.endsWith("/getMyCommands")).length;
    await expect.poll(asked).toBe(2);
    expect(fakeServer.commands.writes).toBe(1);
  });

  it("are registered in each of their languages, with untranslated ones in the default language", async () => {
    const [first, second] = commands;
    const localized = [{ ...first, localized: { zh: "重新开始" } }, second];
    await using bench = await openBench({}, { context: { commands: localized } });
    const { fakeServer } = bench;
    await expect
      .poll(() => [...fakeServer.commands.byLanguage])
      .toEqual([
        [
          "zh",
          [
            { command: "new", description: "重新开始 ([message])" },
            { command: "help", description: "What there is" },
          ],
        ],
      ]);
    expect(fakeServer.commands.list[0]).toMatchObject({ description: "Begins anew ([message])" });
    await using _again = await openBench({}, { fakeServer, context: { commands: localized } });
    const asked = () => fakeServer.requests.filter(({ path }) => path.endsWith("/getMyCommands")).length;
    await expect.poll(asked).toBe(4);
    expect(fakeServer.commands.writes).toBe(2);
  });

  it("are registered as soon as Telegram accepts them", async () => {
    const hurried: Clock = {
      now: systemClock.now,
      delay: (ms, signal) => systemClock.delay(ms === 1_000 ? 5 : ms, signal),
    };
    const fakeServer = await startTelegram({ token });
    fakeServer.fail({ kind: "status", status: 503, path: "setMyCommands", times: 1 });
    try {
      await using _ = await openBench({}, { fakeServer, context: { commands, clock: hurried } });
      await expect.poll(() => fakeServer.commands.list).toHaveLength(2);
    } finally {
      await fakeServer.stop();
    }
  });

  it("beyond the hundred that Telegram accepts are reported in the log", async () => {
    const commands = Array.from({ length: 102 }, (_, at) => ({ name: `c${at}`, description: "does it" }));
    await using bench = await openBench({}, { context: { commands } });
    await expect.poll(() => bench.fakeServer.commands.list.length).toBe(100);
    await expect.poll(() => bench.logged.join()).toMatch(/does not accept.*2/);
  });

  it("stay unchanged if the host passes none", async () => {
    await using first = await openBench({}, { context: { commands } });
    await expect.poll(() => first.fakeServer.commands.list).toHaveLength(2);
    await using _trial = await openBench({}, { fakeServer: first.fakeServer });
    expect(first.fakeServer.commands.list).toHaveLength(2);
    expect(first.fakeServer.commands.writes).toBe(1);
  });

  it("arrive as commands if registered, as text if unknown, and not at all if meant for another bot", async () => {
    await using bench = await openBench({}, { context: { commands } });
    const chat = { id: -1_001_234, type: "supergroup" } as const;
    for (const text of ["/new tell me", "/new@signalbox_bot", "/new@other_bot x", "/start", "/weather Oslo"])
      await bench.fakeServer.push(commandMessage(text, text === "/start" ? {} : { chat }));
    expect(bench.events).toMatchObject([
      { type: "command", name: "new", args: "tell me", addressed: "mention" },
      { type: "command", name: "new", args: "", addressed: "mention" },
      { type: "command", name: "help", args: "", addressed: "dm" },
      { type: "message", text: "/weather Oslo", addressed: "none" },
    ]);
  });
});

describe("attachments", () => {
  it("download up to the limit for bots and abort beyond it, whatever size the server announced", async () => {
    await using bench = await openBench();
    const fetched = async (bytes: number) => {
      bench.fakeServer.addFile("file", new Uint8Array(bytes), { announced: 7 });
      const ref = { kind: "file", mimeType: "text/plain", ref: { fileId: "file" } } as const;
      const media = await bench.channel.fetchMedia?.(ref, never);
      return new Response(media?.body).arrayBuffer();
    };
    expect((await fetched(20_971_520)).byteLength).toBe(20_971_520);
    await expect(fetched(20_971_521)).rejects.toMatchObject({ code: "too_large" });
  });
});

describe("mentions", () => {
  it("are read from Telegram's entities, never from a name in the text", async () => {
    await using bench = await openBench();
    const chat = { id: -1_001_234, type: "supergroup" } as const;
    await bench.fakeServer.push(groupMention("hello", "signalbox_bot"));
    await bench.fakeServer.push(textMessage("@signalbox_bot in a code block", { chat }));
    await bench.fakeServer.push(groupMention("hello", "signalbox_bot_2"));
    expect(bench.events.map((event) => [event.addressed, event.type === "message" && event.text])).toEqual([
      ["mention", "hello"],
      ["none", "in a code block"],
      ["none", "@signalbox_bot_2 hello"],
    ]);
  });
});
