import { getPartKey, type OutboundPart } from "@signalbox/channel";
import { expectChannelError } from "@signalbox/channel/testkit";
import { textMessage } from "@signalbox/testkit/slack";
import { describe, expect, it } from "vitest";
import { type Bench, createAdjustableClock, never, openBench } from "./harness.ts";

const to = { channel: "D_DIRECT" };
const send = ({ channel }: Bench, part: OutboundPart, key = "row1", place = to) =>
  channel.send(place, { parts: [part] }, { idempotencyKey: key, signal: never });
const markdown = (text: string): OutboundPart => ({ type: "markdown", text });

describe("sending messages through the SDK", () => {
  it("sets the idempotency key, renders Markdown and disables unfurling", async () => {
    await using bench = await openBench();
    await send(bench, markdown("# Title\n\n**bold** [link](https://a.example)"));
    const [sent] = bench.fakeServer.sent;
    expect(sent).toMatchObject({
      metadata: { event_type: "signalbox_message", event_payload: { key: getPartKey("row1", 0) } },
      content: {
        text: "*Title*\n\n*bold* <https://a.example|link>",
        blocks: [{ type: "markdown", text: "# Title\n\n**bold** [link](https://a.example)" }],
      },
    });
    const body = new URLSearchParams(bench.fakeServer.requests.at(-1)?.text);
    expect([body.get("unfurl_links"), body.get("unfurl_media")]).toEqual(["false", "false"]);
    expect(body.get("client_msg_id")).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it("escapes broadcasts, and mentions in code or URLs", async () => {
    await using bench = await openBench();
    const text = [
      "<!channel> <!here|x> <!everyone> @here",
      "You <!channel> all, @here and @channel: <@U_ANN> mail@here.example",
      "`<@U_ANN> <!channel>` and https://a.example/@here?q=@channel and [x](https://a.example/@here)",
      "```html\n<!DOCTYPE html> <!channel> <@U_ANN>\n```",
      "![<!channel>](https://a.example/p.png) [<!here>](https://a.example) [x](https://a.example '<!here>')",
      "[there][1]\n\n[1]: https://a.example '<!everyone>'",
    ].join("\n\n");
    await send(bench, markdown(text));
    bench.fakeServer.fail({ kind: "error", error: "invalid_blocks" });
    await send(bench, markdown(text), "row2");
    const [block, plain] = bench.fakeServer.sent.map(({ content }) => content);
    const shown = String(block?.blocks?.[0]?.["text"]);
    expect(shown).not.toMatch(/<!(?:channel|here|everyone)|(?<![\w/=])@(?:here|channel)/);
    expect(shown).toContain("<!DOCTYPE html>");
    expect(shown.match(/<@U_ANN>/g)).toHaveLength(1);
    expect(shown).toContain("https://a.example/@here?q=@channel and [x](https://a.example/@here)");
    expect(plain?.blocks).toBeUndefined();
    const mentions = plain?.text.match(/<@U_ANN>/g);
    expect(mentions).toHaveLength(1);
    expect(plain?.text).not.toMatch(/<!/);
    expect(plain?.text).toContain("&lt;!DOCTYPE html&gt;");
  });

  it.each([
    "cannot_reply_to_message",
    "restricted_action_thread_locked",
    "restricted_action_non_threadable_channel",
  ])("posts to the channel if the thread accepts no messages: %s", async (error) => {
    await using bench = await openBench();
    const thread = { channel: "C_GENERAL", thread: "1795931000.000100" };
    bench.fakeServer.fail({ kind: "error", error });
    await send(bench, markdown("**yes**"), "row1", thread);
    expect(bench.fakeServer.sent).toMatchObject([{ channel: "C_GENERAL", content: { text: "*yes*" } }]);
    expect(bench.fakeServer.sent[0]?.threadTs).toBeUndefined();
  });

  it("sends plain text if Slack rejects a message in every other form", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "error", error: "invalid_arguments" });
    await send(bench, markdown("**yes**, [it](https://a.example)"));
    expect(bench.fakeServer.sent).toMatchObject([{ content: { text: "yes, it (https://a.example)" } }]);
  });

  it("falls back to mrkdwn if the workspace rejects blocks", async () => {
    await using bench = await openBench();
    const text = [
      "## Head *x*",
      "1. one\n2. two\n   - inner **bold**",
      "- [x] done\n- [ ] open",
      "> said & <done>",
      "~~gone~~ _it_ `a < b`",
      "``a`*b*`` _c_",
      "````\nd\n```\n*e*\n````",
      "![alt](https://a.example/p.png) [no](javascript:alert(1))",
      "| a | b |\n| - | - |\n| 1 | 2 |",
      "---",
    ].join("\n\n");
    bench.fakeServer.fail({ kind: "error", error: "msg_blocks_too_long" });
    await send(bench, markdown(text));
    expect(bench.fakeServer.sent[0]?.content.text).toBe(
      [
        "*Head _x_*",
        "1. one\n2. two\n    • inner *bold*",
        "• ☑ done\n• ☐ open",
        "> said &amp; &lt;done&gt;",
        "~gone~ _it_ `a &lt; b`",
        "`aˋ*b*` _c_",
        "```\nd\nˋˋˋ\n*e*\n```",
        "<https://a.example/p.png|alt> no (javascript:alert(1))",
        "```\n| a | b |\n| - | - |\n| 1 | 2 |\n```",
        "———",
      ].join("\n\n"),
    );
  });

  it("stays within the limit even if many mentions are escaped", async () => {
    await using bench = await openBench();
    const calls = "<!channel> ".repeat(1_090).slice(0, 12_000).trim();
    await send(bench, markdown(calls));
    const [sent] = bench.fakeServer.sent;
    expect(sent?.content.blocks).toBeUndefined();
    expect(sent?.content.text).not.toContain("<!");
    expect((await expectChannelError(send(bench, markdown("&".repeat(12_001)), "row2"))).code).toBe(
      "too_large",
    );
    expect((await expectChannelError(send(bench, { type: "text", text: " \u0000" }, "row3"))).code).toBe(
      "invalid",
    );
  });

  it("gives every button a label", async () => {
    await using bench = await openBench();
    const buttons = [
      { id: "a", label: " " },
      { id: "b", label: "Yes" },
    ];
    await send(bench, { type: "buttons", text: "Now?", buttons });
    const elements = bench.fakeServer.sent[0]?.content.blocks?.[1]?.["elements"];
    expect(elements).toMatchObject([{ text: { text: "…" } }, { text: { text: "Yes" } }]);
  });

  it("gives every button of a message a unique id", async () => {
    await using bench = await openBench();
    const button = { id: "decide", label: "x".repeat(100), value: { answer: "allow" } } as const;
    const question: OutboundPart = {
      type: "buttons",
      text: "May **I**?",
      buttons: [
        { ...button, style: "primary" },
        { ...button, style: "default", value: { answer: "deny" } },
      ],
    };
    await send(bench, question);
    const actions = bench.fakeServer.sent[0]?.content.blocks?.[1];
    expect(actions).toMatchObject({
      type: "actions",
      elements: [
        { action_id: "0:decide", style: "primary", value: '{"answer":"allow"}' },
        { action_id: "1:decide" },
      ],
    });
    const tooMany = { ...question, buttons: Array.from({ length: 26 }, () => button) };
    expect((await expectChannelError(send(bench, tooMany, "row2"))).code).toBe("too_large");
    const tooLong = { ...question, buttons: [{ ...button, value: "x".repeat(2_000) }] };
    expect((await expectChannelError(send(bench, tooLong, "row3"))).code).toBe("too_large");
  });

  it("edits, deletes and reacts only within the message's conversation", async () => {
    await using bench = await openBench();
    const { channel, fakeServer } = bench;
    const { parts } = await send(bench, markdown("one"));
    const id = parts[0]?.messageId ?? "";
    await channel.edit?.(to, id, { parts: [markdown("two")] }, never);
    for (const on of [true, true]) await channel.react?.(to, id, { emoji: "👍", on }, never);
    expect(fakeServer.reactions(id.split(":")[1] ?? "")).toEqual(["+1"]);
    await channel.react?.(to, id, { emoji: "👍", on: false }, never);
    await channel.react?.(to, id, { emoji: "👍", on: false }, never);
    expect(fakeServer.reactions(id.split(":")[1] ?? "")).toEqual([]);
    const other = { channel: "C_OTHER" };
    expect(
      (await expectChannelError(channel.edit?.(other, id, { parts: [markdown("x")] }, never) ?? never0)).code,
    ).toBe("not_found");
    expect((await expectChannelError(channel.remove?.(other, id, never) ?? never0)).code).toBe("not_found");
    expect(
      (await expectChannelError(channel.react?.(to, id, { emoji: "🫨", on: true }, never) ?? never0)).code,
    ).toBe("unsupported");
    expect(fakeServer.sent[0]).toMatchObject({ shown: ["one", "two"], isDeleted: false });
    await channel.remove?.(to, id, never);
    expect(fakeServer.sent[0]?.isDeleted).toBe(true);
  });

  it("reconciles by key, in threads too, not by text", async () => {
    await using bench = await openBench();
    const place = { channel: "C_GENERAL", thread: "1767225600.000100" };
    const content = markdown("the same words");
    const intent = { to: place, idempotencyKey: "row2", part: 0, content, attemptedAt: Date.now() };
    await send(bench, content, "row1", place);
    expect(await bench.channel.reconcile?.(intent, never)).toEqual({ outcome: "not_sent" });
    const { parts } = await send(bench, content, "row2", place);
    expect(await bench.channel.reconcile?.(intent, never)).toEqual({
      outcome: "sent",
      messageId: parts[0]?.messageId,
    });
    bench.fakeServer.fail({ kind: "error", error: "missing_scope", method: "conversations.replies" });
    expect(await bench.channel.reconcile?.(intent, never)).toEqual({ outcome: "unknown" });
  });

  it("leaves an outcome unknown if a public app may not read now or sees too little", async () => {
    const clock = createAdjustableClock();
    const fakeServer = { limitedHistory: true, tiers: true, now: clock.now };
    await using bench = await openBench(
      { transport: "webhook", distribution: "public" },
      { fakeServer, context: { clock } },
    );
    const intent = { to, idempotencyKey: "row1", part: 0, content: markdown("x"), attemptedAt: clock.now() };
    for (let count = 0; count < 16; count += 1)
      bench.fakeServer.plant({ channel: to.channel, text: `${count}` });
    expect(await bench.channel.reconcile?.(intent, never)).toEqual({ outcome: "unknown" });
    const error = await expectChannelError(bench.channel.reconcile?.(intent, never) ?? never0);
    expect(error).toMatchObject({ code: "rate_limited", scope: "conversation", retryAfterMs: 60_000 });
    clock.advance(60_000);
    expect(await bench.channel.reconcile?.(intent, never)).toEqual({ outcome: "unknown" });
    expect(bench.fakeServer.called.filter((method) => method === "conversations.history")).toHaveLength(2);
  });

  it("reports Slack's reason for a failure", async () => {
    await using bench = await openBench({ transport: "webhook" }, { fakeServer: { strange: ["C_STRANGE"] } });
    expect(await expectChannelError(send(bench, markdown("x"), "k", { channel: "C_STRANGE" }))).toMatchObject(
      {
        code: "not_found",
        scope: "conversation",
        platformCode: "channel_not_found",
      },
    );
    bench.fakeServer.fail({ kind: "error", error: "fatal_error" });
    expect((await expectChannelError(send(bench, markdown("x")))).code).toBe("unknown_outcome");
    bench.fakeServer.fail({ kind: "error", error: "constructor", times: 2 });
    expect((await expectChannelError(send(bench, markdown("x")))).code).toBe("invalid");
    await using unreachable = await openBench();
    await unreachable.fakeServer.stop();
    // An existing connection may have received the request.
    await expectChannelError(send(unreachable, markdown("x")));
    expect((await expectChannelError(send(unreachable, markdown("x")))).code).toBe("transient");
  });

  it("looks up a user's name once and opens a direct conversation", async () => {
    await using bench = await openBench();
    const { channel, fakeServer } = bench;
    const asked = ["U_ANN", "U_ANN", "U_NOBODY", "U_NOBODY", "B_BOT"].map((id) =>
      channel.resolve?.(id, never),
    );
    expect(await Promise.all(asked)).toEqual([
      { name: "Ann" },
      { name: "Ann" },
      undefined,
      undefined,
      undefined,
    ]);
    expect(fakeServer.called.filter((method) => method === "users.info")).toHaveLength(2);
    expect(await channel.openDirect?.("U_SENDER", never)).toEqual({ channel: "D_DIRECT" });
    expect((await expectChannelError(channel.openDirect?.("nobody", never) ?? never0)).code).toBe(
      "not_found",
    );
  });

  it("returns history, oldest first, with the senders", async () => {
    await using bench = await openBench();
    await bench.fakeServer.postEvent(bench.url, textMessage("a &amp; b", { ts: "1767225600.000100" }));
    await send(bench, markdown("**c**"));
    const listed = await bench.channel.history?.(to, { limit: 10, signal: never });
    expect(listed).toMatchObject([
      {
        text: "a & b",
        sender: { id: "U_SENDER", isBot: false, isSelf: false },
        messageId: "D_DIRECT:1767225600.000100",
      },
      { sender: { id: "U_BOT", isBot: true, isSelf: true } },
    ]);
    expect(await bench.channel.history?.(to, { limit: 1, signal: never })).toHaveLength(1);
  });

  it("shows a status in threads and stops asking if the app may not", async () => {
    await using bench = await openBench();
    const place = { channel: "D_DIRECT", thread: "1.2" };
    await bench.channel.typing?.(place, { on: true }, never);
    expect(bench.fakeServer.status("1.2")).toBe("is writing…");
    await bench.channel.typing?.(place, { on: false }, never);
    expect(bench.fakeServer.status("1.2")).toBe("");
    await bench.channel.typing?.(to, { on: true }, never);
    bench.fakeServer.fail({ kind: "error", error: "missing_scope", method: "setStatus" });
    await bench.channel.typing?.(place, { on: true }, never);
    await bench.channel.typing?.(place, { on: true }, never);
    expect(bench.fakeServer.called.filter((method) => method.endsWith("setStatus"))).toHaveLength(3);
  });

  it("still shows the status after one thread no longer exists", async () => {
    await using bench = await openBench();
    const place = { channel: "C_GENERAL", thread: "1767225600.000100" };
    bench.fakeServer.fail({ kind: "error", error: "channel_not_found", method: "setStatus" });
    await bench.channel.typing?.(place, { on: true }, never);
    await bench.channel.typing?.(place, { on: true }, never);
    expect(bench.fakeServer.called.filter((method) => method.endsWith("setStatus"))).toHaveLength(2);
  });
});

const never0 = Promise.resolve();

describe("files", () => {
  const part = {
    type: "media",
    kind: "file",
    name: "a.txt",
    mimeType: "text/plain",
    size: 7,
    ref: "r",
  } as const satisfies OutboundPart;
  const fetchMedia = (
    bench: Bench,
    ref: { readonly id: string; readonly url?: string },
    mimeType = "text/plain",
  ) => bench.channel.fetchMedia?.({ kind: "file", mimeType, ref }, never) ?? never0;

  it("are downloaded only from Slack's hosts, with the token", async () => {
    await using bench = await openBench();
    const file = bench.fakeServer.addFile({
      id: "F1",
      name: "a.txt",
      mimeType: "text/plain",
      content: Buffer.from("content"),
    });
    const url = String(file["url_private"]);
    const fetched = await bench.channel.fetchMedia?.(
      { kind: "file", mimeType: "text/plain", ref: { id: "F1" } },
      never,
    );
    expect(await new Response(fetched?.body).text()).toBe("content");
    const evil = [
      "https://files.slack.com.evil.example/f",
      "https://evilslack.com/f",
      "http://files.slack.com/f",
      "https://files.slack.com:8443/f",
      "https://user@127.0.0.1/f",
    ];
    for (const address of evil)
      expect((await expectChannelError(fetchMedia(bench, { id: "F1", url: address }))).code).toBe("invalid");
    bench.fakeServer.revoke();
    expect((await expectChannelError(fetchMedia(bench, { id: "F1", url }))).code).toBe("permission");
  });

  it("are looked up after an unknown outcome, which stays unknown if a similar file exists", async () => {
    await using bench = await openBench();
    const openMedia = async () => new Blob(["content"]).stream();
    const intent = { to, idempotencyKey: "row1", part: 0, content: part, attemptedAt: Date.now() };
    expect(await bench.channel.reconcile?.(intent, never)).toEqual({ outcome: "not_sent" });
    const sending = () =>
      bench.channel.send(to, { parts: [part] }, { idempotencyKey: "row1", signal: never, openMedia });
    bench.fakeServer.fail({ kind: "status", method: "getUploadURLExternal" });
    expect((await expectChannelError(sending())).code).toBe("transient");
    bench.fakeServer.fail({ kind: "cut", method: "completeUploadExternal" });
    expect((await expectChannelError(sending())).code).toBe("unknown_outcome");
    expect(await bench.channel.reconcile?.(intent, never)).toEqual({ outcome: "unknown" });
  });

  it("of users are not mistaken for the bot's own if the bot has only a user id", async () => {
    await using bench = await openBench(undefined, {
      fakeServer: { bot: { userId: "U_BOT", botId: "", name: "signalbox" } },
    });
    const file = { id: "F1", name: "a.txt", mimeType: "text/plain", content: Buffer.from("content") };
    const files = [bench.fakeServer.addFile(file)];
    const intent = { to, idempotencyKey: "row1", part: 0, content: part, attemptedAt: Date.now() };
    bench.fakeServer.plant({ channel: to.channel, user: "U_ANN", files });
    expect(await bench.channel.reconcile?.(intent, never)).toEqual({ outcome: "not_sent" });
    bench.fakeServer.plant({ channel: to.channel, user: "U_BOT", files });
    expect(await bench.channel.reconcile?.(intent, never)).toEqual({ outcome: "unknown" });
  });
});
