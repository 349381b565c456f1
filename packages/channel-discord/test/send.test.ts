import { type ChannelError, type Clock, type Outbound, systemClock } from "@signalbox/channel";
import { expectChannelError } from "@signalbox/channel/testkit";
import { wordsIn } from "@signalbox/testkit/discord";
import { createOggOpus } from "@signalbox/testkit/speech";
import { describe, expect, it } from "vitest";
import {
  type Bench,
  bot,
  channelId,
  guildId,
  never,
  openBench,
  otherBot,
  threadId,
  zhang,
} from "./harness.ts";

const to = { channelId };
const options = { idempotencyKey: "k", signal: never };

function words(...texts: string[]): Outbound {
  return { parts: texts.map((text) => ({ type: "markdown", text })) };
}

async function shown({ channel, fakeServer }: Bench, message: Outbound): Promise<string | undefined> {
  await channel.send(to, message, { ...options, idempotencyKey: `k${fakeServer.sent.length}` });
  return fakeServer.sent.at(-1)?.content;
}

describe("sending a message", () => {
  it("replies to another message, pings only its author and is sent once per nonce", async () => {
    await using bench = await openBench();
    const asked = bench.fakeServer.plant({ channelId, authorId: zhang, content: "who?" });
    const answer = { ...words("@everyone, it is <@2002>"), replyTo: asked.id };
    const [first, again] = [
      await bench.channel.send(to, answer, options),
      await bench.channel.send(to, answer, options),
    ];
    expect(again).toEqual(first);
    expect(bench.fakeServer.sent).toMatchObject([
      {
        nonce: "k.0",
        reference: { message_id: asked.id },
        allowedMentions: { parse: [], replied_user: true },
      },
    ]);
  });

  it("sends a plain message if the replied-to message is gone", async () => {
    await using bench = await openBench();
    await bench.channel.send(to, { ...words("still"), replyTo: "123456789" }, options);
    expect(bench.fakeServer.sent).toMatchObject([{ content: "still" }]);
    expect(bench.fakeServer.sent[0]?.reference).toBeUndefined();
  });

  it("sends to the parent channel if the thread was deleted, unless the thread was private", async () => {
    await using bench = await openBench();
    const asked = bench.fakeServer.say({ channelId: threadId, authorId: zhang, content: "who?" });
    await bench.fakeServer.acknowledged(asked.sequence ?? 0);
    bench.fakeServer.deleteChannel(threadId);
    await bench.channel.send(
      { channelId: threadId },
      { ...words("it is me"), replyTo: asked.message.id },
      options,
    );
    expect(bench.fakeServer.sent).toMatchObject([{ channelId, content: "it is me" }]);
    const hidden = "7004";
    bench.fakeServer.addChannel({ id: hidden, type: 12, guildId, parentId: channelId, name: "private" });
    const again = bench.fakeServer.say({ channelId: hidden, authorId: zhang, content: "who?" });
    await bench.fakeServer.acknowledged(again.sequence ?? 0);
    bench.fakeServer.deleteChannel(hidden);
    const secret = bench.channel.send({ channelId: hidden }, words("a secret"), options);
    await expectChannelError(secret, "Sending to a deleted private thread", "not_found");
    const elsewhere = bench.channel.send({ channelId: "7999" }, words("lost"), options);
    await expectChannelError(elsewhere, "Sending to an unknown channel", "not_found");
  });

  it("sends plain text if Discord rejects the formatted message", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "status", status: 400, times: 1 });
    const text = "**yes**, [it](https://a.example)";
    await bench.channel.send(to, words(text), options);
    expect(bench.fakeServer.sent).toMatchObject([{ content: "yes, it (https://a.example)" }]);
    const intent = {
      to,
      idempotencyKey: "k",
      part: 0,
      content: { type: "markdown", text } as const,
      attemptedAt: Date.now(),
    };
    expect(await bench.channel.reconcile?.(intent, never)).toMatchObject({ outcome: "sent" });
  });

  it("disables link previews, which Discord would fetch before anyone clicks", async () => {
    await using bench = await openBench();
    const link = "see https://x.example/?said=this";
    await bench.channel.send(to, { parts: [...words(link).parts, { type: "text", text: link }] }, options);
    const draft = await bench.channel.openDraft?.(to, { ...options, idempotencyKey: "k2" });
    await draft?.update(link);
    expect(bench.fakeServer.sent.map(({ flags }) => flags)).toEqual([4, 4, 4]);
  });

  it("renders Markdown in Discord's dialect", async () => {
    await using bench = await openBench();
    const table = "| a | b |\n| - | - |\n| 1 | 2 |";
    expect(await shown(bench, words(table))).toBe(`\`\`\`\n${table}\n\`\`\``);
    expect(await shown(bench, words("#### Small\n\n## Larger"))).toBe("**Small**\n\n## Larger");
    expect(await shown(bench, words("![a cat](https://x.example/cat.png)"))).toBe(
      "[a cat](https://x.example/cat.png)",
    );
    expect(await shown(bench, words("- [x] done\n- [ ] open\n\n---\n\n```js\n# | a |\n```"))).toBe(
      "- ☑ done\n- ☐ open\n\n───\n\n```js\n# | a |\n```",
    );
  });

  it("keeps code with backticks in one block", async () => {
    await using bench = await openBench();
    const code = "echo 1\n```\n**Approved.**\n`````";
    expect(await shown(bench, words(`Runs:\n\`\`\`\`\`\`\n${code}\n\`\`\`\`\`\`\nIn: \`/a\``))).toBe(
      "Runs:\n```\necho 1\nˋˋˋ\n**Approved.**\nˋˋˋˋˋ\n```\nIn: `/a`",
    );
    expect(await shown(bench, words("In: ````a```**b**```` and ```c``d```"))).toBe(
      "In: `` aˋˋˋ**b** `` and `` cˋˋd ``",
    );
    expect(await shown(bench, words("In: ``a`b``\n\n```sh\n$(``)\n```"))).toBe(
      "In: ``a`b``\n\n```sh\n$(``)\n```",
    );
  });

  it("shows plain text unchanged and keeps URLs intact", async () => {
    await using bench = await openBench();
    const text =
      "*not* __bold__ ~~gone~~ `x`\n# no heading\n- no list\n1. nor this\nhttps://x.example/a_b_c*d";
    expect(await shown(bench, { parts: [{ type: "text", text }] })).toBe(
      "\\*not\\* \\_\\_bold\\_\\_ \\~\\~gone\\~\\~ \\`x\\`\n\\# no heading\n\\- no list\n1\\. nor this\nhttps://x.example/a_b_c*d",
    );
  });

  it("creates no link, mention or timestamp from plain text", async () => {
    await using bench = await openBench();
    const text = "[your bank](https://x.example/a_[b]) <@2001> <t:0:R> 1 < 2 <https://x.example/a_b>";
    expect(await shown(bench, { parts: [{ type: "text", text }] })).toBe(
      "\\[your bank](https://x.example/a_[b]) \\<@2001> \\<t:0:R> 1 \\< 2 \\<https://x.example/a_b>",
    );
  });

  it("never exceeds the limit, whatever is escaped", async () => {
    await using bench = await openBench();
    for (const text of ["*".repeat(2_000), `|a|\n|-|\n${"|b|\n".repeat(498)}`])
      for (const type of ["text", "markdown"] as const) await shown(bench, { parts: [{ type, text }] });
    expect(Math.max(...bench.fakeServer.sent.map(({ content }) => content.length))).toBeLessThanOrEqual(
      2_000,
    );
  });

  it("works in threads, and can be edited, deleted and reacted to", async () => {
    await using bench = await openBench();
    const thread = { channelId: threadId };
    const { parts } = await bench.channel.send(thread, words("one"), options);
    const messageId = parts[0]?.messageId ?? "";
    await bench.channel.edit?.(thread, messageId, words("two"), never);
    await bench.channel.react?.(thread, messageId, { emoji: "👍", on: true }, never);
    expect(bench.fakeServer.sent).toMatchObject([{ channelId: threadId, content: "two" }]);
    expect([...(bench.fakeServer.sent[0]?.reactions ?? [])]).toEqual(["👍"]);
    await bench.channel.react?.(thread, messageId, { emoji: "👍", on: false }, never);
    expect(bench.fakeServer.sent[0]?.reactions.size).toBe(0);
    // The path contains the channel, so an edit cannot reach a message of another channel.
    const hidden = "7004";
    bench.fakeServer.addChannel({ id: hidden, type: 12, guildId, parentId: channelId, name: "private" });
    const again = bench.fakeServer.say({ channelId: hidden, authorId: zhang, content: "who?" });
    await bench.fakeServer.acknowledged(again.sequence ?? 0);
    bench.fakeServer.deleteChannel(hidden);
    const secret = bench.channel.send({ channelId: hidden }, words("a secret"), options);
    await expectChannelError(secret, "Sending to a deleted private thread", "not_found");
    const elsewhere = bench.channel.edit?.(to, messageId, words("three"), never) ?? Promise.resolve();
    expect((await expectChannelError(elsewhere)).code).toBe("not_found");
    await bench.channel.remove?.(thread, messageId, never);
    expect(bench.fakeServer.sent[0]?.deleted).toBe(true);
  });
});

describe("rejected requests", () => {
  it.each([
    ["a channel that does not exist", "1", "not_found", "conversation"],
    ["a channel that is hidden", "7600", "permission", "conversation"],
    ["a forum, which holds posts alone", "7500", "unsupported", "conversation"],
  ])("%s is said to be so", async (_, place, code, scope) => {
    await using bench = await openBench();
    bench.fakeServer.addChannel({ id: "7600", type: 0, guildId: "7000", isHidden: true });
    expect(
      await expectChannelError(bench.channel.send({ channelId: place }, words("x"), options)),
    ).toMatchObject({
      code,
      scope,
    });
  });

  it("report why a message of another author cannot be edited and a full thread takes no message", async () => {
    await using bench = await openBench({ discord: { rateLimit: true } });
    const { id } = bench.fakeServer.plant({ channelId, authorId: zhang });
    const edit = bench.channel.edit?.(to, id, words("x"), never) ?? Promise.resolve();
    expect(await expectChannelError(edit)).toMatchObject({ code: "permission", platformCode: "50005" });
    const send = (count: number) =>
      bench.channel.send(to, words("x"), { ...options, idempotencyKey: `k${count}` });
    for (let count = 0; count < 5; count += 1) await send(count);
    const limited = await expectChannelError(send(5));
    expect(limited).toMatchObject({ code: "rate_limited", scope: "conversation", retryAfterMs: 2_000 });
  });

  it("do not send a rejected token again and again", async () => {
    await using bench = await openBench();
    bench.fakeServer.revoke();
    const before = bench.fakeServer.requests.length;
    for (let count = 0; count < 20; count += 1)
      expect((await expectChannelError(bench.channel.send(to, words("x"), options))).code).toBe("auth");
    expect(bench.fakeServer.requests.length - before).toBe(1);
  });

  it("contain no interaction token in their errors", async () => {
    await using bench = await openBench();
    bench.fakeServer.interact(channelId, zhang, { kind: "command", name: "status" });
    await expect.poll(() => bench.events.length).toBe(1);
    const [event] = bench.events;
    await expect.poll(() => bench.fakeServer.interactions[0]?.answeredWith).toBe(5);
    const answer = { channelId, interactionId: event?.eventId.replace("interaction:", "") ?? "" };
    // Until its deferral is acknowledged, a command is answered by an ordinary message, which does not fail.
    bench.fakeServer.fail({ kind: "status", status: 500, path: "/webhooks/", times: 100 });
    const trying = () =>
      bench.channel.send(answer, words("x"), options).catch((error: ChannelError) => error);
    await expect.poll(trying).toMatchObject({ code: "unknown_outcome" });
    const error = await expectChannelError(bench.channel.send(answer, words("x"), options));
    expect(
      [error.message, JSON.stringify(error), String(error.cause), bench.logged.join()].join(),
    ).not.toContain("interaction-token");
  });
});

describe("the typing indicator", () => {
  it("is renewed until it is hidden or the channel stops", async () => {
    const waits: (AbortSignal | undefined)[] = [];
    const hurried: Clock = {
      now: systemClock.now,
      delay: (ms, signal) => {
        if (ms === 8_000) waits.push(signal);
        return systemClock.delay(ms === 8_000 ? 10 : ms, signal);
      },
    };
    await using bench = await openBench({ context: { clock: hurried } });
    const shown = () => bench.fakeServer.requests.filter(({ path }) => path.endsWith("/typing")).length;
    const areOver = () => waits.every((signal) => signal?.aborted === true);
    await bench.channel.typing?.(to, { on: true }, never);
    await expect.poll(shown).toBeGreaterThan(3);
    expect(areOver()).toBe(false);
    await bench.channel.typing?.(to, { on: false }, never);
    expect(areOver()).toBe(true);
    await bench.channel.typing?.({ channelId: threadId }, { on: true }, never);
    expect(areOver()).toBe(false);
    await bench.channel.stop({ drainMs: 0 });
    expect(areOver()).toBe(true);
  });
});

describe("lookups", () => {
  it("returns history, newest last", async () => {
    await using bench = await openBench();
    bench.fakeServer.plant({ channelId, authorId: zhang, content: "first <@1000>" });
    bench.fakeServer.plant({ channelId, authorId: otherBot, content: "second" });
    await bench.channel.send(to, words("third"), options);
    const history = await bench.channel.history?.(to, { limit: 2, signal: never });
    expect(history).toMatchObject([
      { text: "second", sender: { id: otherBot, isBot: true, isSelf: false } },
      { text: "third", sender: { id: bot.id, isBot: true, isSelf: true } },
    ]);
    const before = await bench.channel.history?.(to, {
      limit: 5,
      before: history?.[0]?.timestamp ?? 0,
      signal: never,
    });
    expect(before?.length).toBeLessThan(3);
  });

  it("opens a direct conversation and resolves names, with `undefined` for unknown users", async () => {
    await using bench = await openBench();
    expect(await bench.channel.openDirect?.(zhang, never)).toEqual({
      channelId: bench.fakeServer.directWith(zhang).id,
    });
    expect(await bench.channel.resolve?.(zhang, never)).toEqual({ name: "张三" });
    expect(await bench.channel.resolve?.("999", never)).toBeUndefined();
    expect(await bench.channel.resolve?.("../@me", never)).toBeUndefined();
  });

  it("reconciles a file by name and size without confusing messages", async () => {
    await using bench = await openBench();
    const part = {
      type: "media",
      kind: "file",
      name: "a b.txt",
      mimeType: "text/plain",
      size: 4,
      ref: 1,
    } as const;
    const openMedia = async () => new Blob(["four"]).stream();
    const look = (content: Outbound["parts"][number]) =>
      bench.channel.reconcile?.(
        { to, idempotencyKey: "k", part: 0, content, attemptedAt: Date.now() },
        never,
      );
    expect(await look(part)).toEqual({ outcome: "not_sent" });
    const { parts } = await bench.channel.send(to, { parts: [part] }, { ...options, openMedia });
    expect(await look(part)).toEqual({ outcome: "sent", messageId: parts[0]?.messageId });
    expect(await look({ ...part, size: 5 })).toEqual({ outcome: "not_sent" });
    expect(await look({ type: "markdown", text: "other words" })).toEqual({ outcome: "not_sent" });
  });
});

describe("a voice message", () => {
  const opus = createOggOpus({ seconds: 3 });
  const part = { type: "media", kind: "audio", mimeType: "audio/ogg", ref: 1, voice: true } as const;
  const sendRecording = (bench: Bench, bytes: Buffer, channel = channelId) =>
    bench.channel.send(
      { channelId: channel },
      { parts: [{ ...part, name: "voice.ogg", size: bytes.length }] },
      {
        ...options,
        idempotencyKey: `k${channel}`,
        openMedia: async () => new Blob([new Uint8Array(bytes)]).stream(),
      },
    );

  it("has the flag, the duration and a waveform", async () => {
    await using bench = await openBench();
    await sendRecording(bench, opus);
    expect(bench.fakeServer.sent).toMatchObject([{ flags: 8192, attachments: [{ name: "voice.ogg" }] }]);
    const [request] = bench.fakeServer.requests.filter(({ method }) => method === "POST");
    expect(Buffer.from(request?.bytes ?? []).toString("latin1")).toContain('"duration_secs":3');
  });

  it("is sent as a file if it is not Opus, or if the channel does not allow voice messages", async () => {
    await using bench = await openBench();
    await sendRecording(bench, Buffer.from("ID3"));
    bench.fakeServer.addChannel({ id: "7005", type: 0, guildId, name: "quiet", forbidsVoice: true });
    await sendRecording(bench, opus, "7005");
    expect(bench.fakeServer.sent.map(({ flags, attachments }) => [flags, attachments.length])).toEqual([
      [0, 1],
      [0, 1],
    ]);
  });
});

it("does not reconcile to another message with the same text", async () => {
  await using bench = await openBench();
  const content = { type: "markdown", text: "Done." } as const;
  await bench.channel.send(to, { parts: [content] }, options);
  const intent = { to, part: 0, content, attemptedAt: Date.now() };
  const look = (idempotencyKey: string) => bench.channel.reconcile?.({ ...intent, idempotencyKey }, never);
  expect(await look("k")).toMatchObject({ outcome: "sent" });
  expect(await look("k2")).toEqual({ outcome: "not_sent" });
});

it("reconciles a poll by its question and all its options", async () => {
  await using bench = await openBench();
  const poll = { type: "poll", question: "Where to?", options: ["Rome", "Oslo"] } as const;
  const { parts } = await bench.channel.send(to, { parts: [poll] }, options);
  const look = (content: Outbound["parts"][number]) =>
    bench.channel.reconcile?.({ to, idempotencyKey: "k", part: 0, content, attemptedAt: Date.now() }, never);
  expect(await look(poll)).toEqual({ outcome: "sent", messageId: parts[0]?.messageId });
  expect(await look({ ...poll, options: ["Rome", "Bern"] })).toEqual({ outcome: "not_sent" });
});

it("closes only its own polls and returns the votes of an expired one", async () => {
  await using bench = await openBench();
  const { channel, fakeServer } = bench;
  const poll = { type: "poll", question: "Where to?", options: ["Rome", "Oslo"] } as const;
  const { parts } = await channel.send(to, { parts: [poll] }, options);
  const own = parts[0]?.messageId ?? "";
  fakeServer.vote(own, [1, 2]);
  const result = await channel.closePoll?.(to, own, never);
  expect(result?.options.map(({ votes }) => votes)).toEqual([1, 2]);
  expect(await channel.closePoll?.(to, own, never)).toEqual(result);

  const asked = { question: { text: "When?" }, answers: [{ answer_id: 1, poll_media: { text: "Now" } }] };
  const others = fakeServer.plant({ channelId, authorId: zhang, more: { poll: asked } });
  const said = await channel.send(to, words("no poll"), { ...options, idempotencyKey: "k2" });
  const second = await channel.send(to, { parts: [poll] }, { ...options, idempotencyKey: "k3" });
  const idsOf = ({ parts }: typeof said) => parts.map(({ messageId }) => messageId);
  for (const id of [others.id, ...idsOf(said), ...idsOf(second).map((each) => `x/../${each}`)])
    await expect(channel.closePoll?.(to, id, never)).rejects.toMatchObject({ code: "invalid" });
});

describe("a question over 2,000 characters", () => {
  const question = {
    type: "buttons",
    text: `May it run this?\n${"echo one\n".repeat(300)}`,
    buttons: [{ id: "approve", label: "Allow", value: 1 }],
  } as const;
  const isOfComponents = (flags: number) => (flags & (1 << 15)) !== 0;

  it("is made of components and stays so after the decision", async () => {
    await using bench = await openBench();
    const { parts } = await bench.channel.send(to, { parts: [question] }, options);
    const [sent] = bench.fakeServer.sent;
    expect(sent === undefined ? "" : wordsIn(sent)).toBe(question.text);
    expect(sent).toMatchObject({ content: "", allowedMentions: { parse: [] } });
    expect(isOfComponents(sent?.flags ?? 0)).toBe(true);
    const messageId = parts[0]?.messageId ?? "";
    await bench.channel.edit?.(to, messageId, words("Allowed."), never);
    expect(sent).toMatchObject({ content: "", components: [{ content: "Allowed." }] });
    expect(await bench.channel.history?.(to, { limit: 1, signal: never })).toMatchObject([
      { text: "Allowed." },
    ]);
  });

  it("is found again after an unknown outcome", async () => {
    await using bench = await openBench();
    const { parts } = await bench.channel.send(to, { parts: [question] }, options);
    const look = (text: string) =>
      bench.channel.reconcile?.(
        { to, idempotencyKey: "k", part: 0, content: { ...question, text }, attemptedAt: Date.now() },
        never,
      );
    expect(await look(question.text)).toEqual({ outcome: "sent", messageId: parts[0]?.messageId });
    expect(await look(`${question.text}!`)).toEqual({ outcome: "not_sent" });
  });

  it("switches to components on edit only if it no longer fits", async () => {
    await using bench = await openBench();
    const short = { ...question, text: "x".repeat(2_000) };
    const { parts } = await bench.channel.send(to, { parts: [short, ...words("plain").parts] }, options);
    const [asked, plain] = parts.map(({ messageId }) => messageId ?? "");
    const ended = words(`${short.text}\n\nAllowed.`);
    await bench.channel.edit?.(to, asked ?? "", ended, never);
    expect(bench.fakeServer.sent.map(({ flags }) => isOfComponents(flags))).toEqual([true, false]);
    const editing = bench.channel.edit?.(to, plain ?? "", ended, never) ?? Promise.resolve();
    expect((await expectChannelError(editing)).code).toBe("too_large");
  });
});

describe("attachments", () => {
  const content = new Uint8Array(Buffer.from("content"));

  it("are downloaded from a fresh URL if the old one expired", async () => {
    await using bench = await openBench();
    const file = { id: "8100", name: "notes.txt", mimeType: "text/plain", content };
    const { sequence } = bench.fakeServer.say({ channelId, authorId: zhang, attachments: [file] });
    await bench.fakeServer.acknowledged(sequence ?? 0);
    const [event] = bench.events;
    const [media] = event?.type === "message" ? event.media : [];
    bench.fakeServer.age(2 * 86_400_000);
    const fetched = media && (await bench.channel.fetchMedia?.(media, never));
    expect(new Uint8Array(await new Response(fetched?.body).arrayBuffer())).toEqual(content);
    expect(fetched).toMatchObject({ mimeType: "text/plain", name: "notes.txt" });
  });

  it("are downloaded only from Discord's hosts", async () => {
    await using bench = await openBench();
    for (const url of [
      "http://cdn.discordapp.com/attachments/1/2/x",
      "https://cdn.discordapp.com.example/attachments/1/2/x",
      `${bench.fakeServer.url}/api/v10/users/@me`,
      "http://169.254.169.254/attachments/1/2/x",
    ]) {
      const ref = { channelId, messageId: "1", attachmentId: "2", url };
      const fetching = bench.channel.fetchMedia?.({ kind: "file", mimeType: "a/b", ref }, never);
      expect((await expectChannelError(fetching ?? Promise.resolve())).code, url).toBe("invalid");
    }
  });
});
