import { expectChannelError } from "@signalbox/channel/testkit";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { credentials, never, openBench } from "./harness.ts";

const options = { idempotencyKey: "run1-0", signal: never };
const chat = { id: "oc_direct" };

function markdown(text: string) {
  return { parts: [{ type: "markdown" as const, text }] };
}

describe("sending", () => {
  it("goes on where another call was given up while both waited for the app's token", async () => {
    const asked = Promise.withResolvers<void>();
    const slowly: typeof fetch = async (input, init) => {
      if (String(input).includes("tenant_access_token")) await asked.promise;
      return fetch(input, init);
    };
    await using bench = await openBench(undefined, { context: { fetch: slowly } });
    const givenUp = new AbortController();
    const first = bench.channel.send(chat, markdown("one"), { ...options, signal: givenUp.signal });
    const second = bench.channel.send(chat, markdown("two"), { ...options, idempotencyKey: "run2-0" });
    givenUp.abort();
    asked.resolve();
    await expect(first).rejects.toMatchObject({ code: "transient" });
    await second;
    expect(bench.fakeServer.sent).toMatchObject([{ uuid: "run2-0.0" }]);
  });

  it("answers a message as a reply with the outbox key, and writes plain words as text", async () => {
    await using bench = await openBench();
    await bench.post(textMessage("hi", { messageId: "om_1" }));
    const receipt = await bench.channel.send(chat, { ...markdown("你好，张三"), replyTo: "om_1" }, options);
    const [sent] = bench.fakeServer.sent;
    expect(sent).toMatchObject({ chatId: "oc_direct", parentId: "om_1", msgType: "text", uuid: "run1-0.0" });
    expect(JSON.parse(sent?.content ?? "")).toEqual({ text: "你好，张三" });
    expect(receipt).toEqual({ parts: [{ index: 0, messageId: sent?.messageId }] });
  });

  it.each([230_011, 231_003])("sends a plain message if the reply is refused with %i", async (code) => {
    await using bench = await openBench();
    await bench.post(textMessage("hi", { messageId: "om_1" }));
    bench.fakeServer.fail({ kind: "code", code, path: "/reply", times: 20 });
    await bench.channel.send(chat, { ...markdown("你好，张三"), replyTo: "om_1" }, options);
    expect(bench.fakeServer.sent).toMatchObject([{ chatId: "oc_direct", uuid: "run1-0.0" }]);
    expect(bench.fakeServer.sent[0]?.parentId).toBeUndefined();
  });

  it("sends plain text if Feishu rejects the card", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "code", code: 230_099, path: "/im/v1/messages", times: 1 });
    await bench.channel.send(chat, markdown("## Figures\n\n**12**"), options);
    expect(bench.fakeServer.sent).toMatchObject([{ msgType: "text" }]);
    expect(JSON.parse(bench.fakeServer.sent[0]?.content ?? "")).toEqual({ text: "Figures\n\n12" });
  });

  it("sends Markdown as rich text, headings and tables as a card, buttons as a card with callbacks", async () => {
    await using bench = await openBench();
    const buttons = {
      type: "buttons" as const,
      text: "May I?",
      buttons: [{ id: "yes", label: "Yes", value: { n: 1 } }],
    };
    const parts = [
      ...markdown("- **one**\n- `two`").parts,
      ...markdown("# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |").parts,
      buttons,
    ];
    await bench.channel.send(chat, { parts }, options);
    expect(bench.fakeServer.sent.map((one) => one.msgType)).toEqual(["post", "interactive", "interactive"]);
    expect(bench.fakeServer.sent[2]?.content).toContain(
      '"behaviors":[{"type":"callback","value":{"id":"yes","value":{"n":1}}}]',
    );
  });

  it("has sent nothing for sure where the platform gave no token, and asks for one token for all calls", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "status", path: "tenant_access_token", times: 1 });
    const hello = () => bench.channel.send(chat, markdown("hello"), options);
    expect(await expectChannelError(hello())).toMatchObject({ code: "transient", scope: "account" });
    await Promise.all([hello(), hello()]);
    const asked = bench.fakeServer.requests.filter(({ path }) => path.includes("tenant_access_token"));
    expect(asked).toHaveLength(2);
  });

  it("sends each part once however often it is tried, and goes on where it stopped", async () => {
    await using bench = await openBench();
    const message = {
      parts: [...markdown("one").parts, ...markdown("two").parts, ...markdown("three").parts],
    };
    bench.fakeServer.fail({ kind: "status", path: "/im/v1/messages", method: "POST", times: 1 });
    expect((await expectChannelError(bench.channel.send(chat, message, options))).code).toBe(
      "unknown_outcome",
    );
    bench.fakeServer.fail({ kind: "cut", method: "POST" });
    expect((await expectChannelError(bench.channel.send(chat, message, options))).code).toBe(
      "unknown_outcome",
    );
    expect(bench.fakeServer.sent).toHaveLength(1);
    const seen: number[] = [];
    const again = { ...options, onPart: (part: { index: number }) => void seen.push(part.index) };
    await bench.channel.send(chat, message, again);
    expect(bench.fakeServer.sent.map((one) => JSON.parse(one.content).text)).toEqual(["one", "two", "three"]);
    expect(seen).toEqual([0, 1, 2]);
    const receipt = await bench.channel.send(chat, message, { ...options, startAt: 2 });
    expect(receipt.parts).toEqual([{ index: 2, messageId: bench.fakeServer.sent[2]?.messageId }]);
    expect(bench.fakeServer.sent).toHaveLength(3);
  });

  it("tells how far it came when a later part fails", async () => {
    await using bench = await openBench(undefined, { rateLimit: true });
    const parts = Array.from({ length: 7 }, (_, index) => ({ type: "text" as const, text: `part ${index}` }));
    const error = await expectChannelError(bench.channel.send(chat, { parts }, options));
    expect(error).toMatchObject({ code: "rate_limited", scope: "conversation", platformCode: "230020" });
    expect(error.receipt?.parts.map((part) => part.index)).toEqual([0, 1, 2, 3, 4]);
  });

  it("gets a new token once when the old one is refused", async () => {
    await using bench = await openBench();
    await bench.channel.send(chat, markdown("one"), options);
    bench.fakeServer.expireTokens();
    await bench.channel.send(chat, markdown("two"), { ...options, idempotencyKey: "run2-0" });
    expect(bench.fakeServer.sent).toHaveLength(2);
    expect(bench.fakeServer.requests.filter((one) => one.path.includes("tenant_access_token"))).toHaveLength(
      2,
    );
  });

  it("says what went wrong in the contract's codes", async () => {
    await using bench = await openBench();
    const send = () => expectChannelError(bench.channel.send(chat, markdown("one"), options));
    bench.fakeServer.fail({ kind: "rate", resetSeconds: 7 });
    expect(await send()).toMatchObject({ code: "rate_limited", retryAfterMs: 7000, scope: "account" });
    bench.fakeServer.fail({ kind: "rate" });
    expect(await send()).toMatchObject({ code: "rate_limited", retryAfterMs: 1000 });
    bench.fakeServer.fail({ kind: "code", code: 230002 });
    expect(await send()).toMatchObject({ code: "permission", scope: "conversation" });
    bench.fakeServer.fail({ kind: "code", code: 99991672 });
    expect(await send()).toMatchObject({ code: "permission", scope: "account" });
    bench.fakeServer.fail({ kind: "code", code: 123456, times: 2 });
    expect(await send()).toMatchObject({ code: "invalid", platformCode: "123456" });
    expect(
      await expectChannelError(bench.channel.send(chat, markdown("x".repeat(14_001)), options)),
    ).toMatchObject({
      code: "too_large",
    });
  });

  it("knows that what never reached the platform can be sent again", async () => {
    await using bench = await openBench();
    await bench.fakeServer.stop();
    const error = await expectChannelError(bench.channel.send(chat, markdown("one"), options));
    expect(error).toMatchObject({ code: "transient", scope: "account" });
  });

  it("reports wrong credentials without showing them", async () => {
    await using bench = await openBench({ verificationToken: "t", appSecret: "a-wrong-secret-value" });
    const error = await expectChannelError(bench.channel.send(chat, markdown("one"), options));
    expect(error).toMatchObject({
      code: "auth",
      scope: "account",
      platformCode: "10014",
      settings: ["appId", "appSecret"],
    });
    expect(`${error.message} ${bench.logged.join()}`).not.toContain("a-wrong-secret-value");
    expect(bench.channel.health()).toMatchObject({ state: "degraded" });
  });

  it("gives up when the signal fires", async () => {
    await using bench = await openBench();
    await bench.channel.send(chat, markdown("warm"), options);
    bench.fakeServer.fail({ kind: "hang", method: "POST" });
    const controller = new AbortController();
    const sending = expectChannelError(
      bench.channel.send(chat, markdown("one"), { idempotencyKey: "run2-0", signal: controller.signal }),
    );
    await expect.poll(() => bench.fakeServer.sent.length).toBe(2);
    controller.abort();
    expect((await sending).code).toBe("unknown_outcome");
  });

  it("sends a plain message where the one to answer is gone, and stays in a thread", async () => {
    await using bench = await openBench();
    await bench.channel.send(chat, { ...markdown("one"), replyTo: "om_gone" }, options);
    expect(bench.fakeServer.sent[0]).toMatchObject({ chatId: "oc_direct" });
    expect(bench.fakeServer.sent[0]?.parentId).toBeUndefined();
    await bench.post(textMessage("root", { messageId: "om_root", chatId: "oc_g", chatType: "group" }));
    const thread = { id: "oc_g", rootId: "om_root" };
    const parts = [...markdown("one").parts, ...markdown("two").parts];
    await bench.channel.send(thread, { parts, replyTo: "om_root" }, { ...options, idempotencyKey: "run2-0" });
    expect(bench.fakeServer.sent.slice(1).map((one) => [one.parentId, one.threadId])).toEqual([
      ["om_root", "omt_of_om_root"],
      ["om_root", "omt_of_om_root"],
    ]);
  });

  it.each([230_011, 231_003])(
    "sends a plain message if Feishu refuses the reply with code %i",
    async (code) => {
      await using bench = await openBench();
      await bench.post(textMessage("question", { messageId: "om_asked", chatId: "oc_direct" }));
      bench.fakeServer.fail({ kind: "code", code, path: "/reply", times: 5 });
      await bench.channel.send(chat, { ...markdown("one"), replyTo: "om_asked" }, options);
      expect(bench.fakeServer.sent).toMatchObject([{ chatId: "oc_direct" }]);
      expect(bench.fakeServer.sent[0]?.parentId).toBeUndefined();
    },
  );

  it("changes nothing from another conversation", async () => {
    await using bench = await openBench();
    const { parts } = await bench.channel.send(chat, markdown("one"), options);
    const id = parts[0]?.messageId ?? "";
    const other = { id: "oc_other" };
    await expect(bench.channel.edit?.(other, id, markdown("two"), never)).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(bench.channel.remove?.(other, id, never)).rejects.toMatchObject({ code: "not_found" });
    await expect(bench.channel.react?.(other, id, { emoji: "👍", on: true }, never)).rejects.toMatchObject({
      code: "not_found",
    });
    expect(bench.fakeServer.reactions(id)).toEqual([]);
    expect(bench.fakeServer.sent[0]).toMatchObject({ edits: [], deleted: false });
  });

  it("takes its own reaction back, however many people reacted alike", async () => {
    await using bench = await openBench();
    await bench.post(textMessage("hi", { messageId: "om_1" }));
    await bench.channel.react?.(chat, "om_1", { emoji: "👍", on: true }, never);
    const listed = "/open-apis/im/v1/messages/om_1/reactions?reaction_type=THUMBSUP";
    const reaction = (id: string, operator: string) => ({
      reaction_id: id,
      operator: { operator_id: operator },
      reaction_type: { emoji_type: "THUMBSUP" },
    });
    const page = (items: unknown, next: object) => () => Response.json({ code: 0, data: { items, ...next } });
    const own = reaction("reaction_1", credentials.appId);
    bench.fakeServer.answerAt(`${listed}&page_size=50&page_token=2`, page([own], { has_more: false }));
    const others = Array.from({ length: 50 }, (_, index) => reaction(`other_${index}`, `ou_${index}`));
    bench.fakeServer.answerAt(listed, page(others, { has_more: true, page_token: "2" }));
    await bench.channel.react?.(chat, "om_1", { emoji: "👍", on: false }, never);
    expect(bench.fakeServer.reactions("om_1")).toEqual([]);
  });

  it("edits, takes back, reacts and shows that it writes", async () => {
    await using bench = await openBench();
    await bench.post(textMessage("hi", { messageId: "om_1" }));
    const { parts } = await bench.channel.send(chat, markdown("one"), options);
    const id = parts[0]?.messageId ?? "";
    await bench.channel.edit?.(chat, id, markdown("**two**"), never);
    expect(bench.fakeServer.sent[0]).toMatchObject({
      msgType: "post",
      edits: [expect.stringContaining("**two**")],
    });
    await bench.channel.typing?.(chat, { on: true, messageId: "om_1" }, never);
    await bench.channel.react?.(chat, "om_1", { emoji: "👍", on: true }, never);
    expect(bench.fakeServer.reactions("om_1")).toEqual(["Typing", "THUMBSUP"]);
    await bench.channel.typing?.(chat, { on: false, messageId: "om_1" }, never);
    expect(bench.fakeServer.reactions("om_1")).toEqual(["THUMBSUP"]);
    await bench.channel.remove?.(chat, id, never);
    expect(bench.fakeServer.sent[0]?.deleted).toBe(true);
  });

  it("finds a doubtful message again, reads the past and fetches what was attached", async () => {
    await using bench = await openBench();
    await bench.post(textMessage("hi", { messageId: "om_1" }));
    const attemptedAt = Date.now();
    const intent = { to: chat, idempotencyKey: "run1-0", part: 0, attemptedAt } as const;
    const content = { type: "markdown", text: "- **done**" } as const;
    expect(await bench.channel.reconcile?.({ ...intent, content }, never)).toEqual({ outcome: "not_sent" });
    const { parts } = await bench.channel.send(chat, { parts: [content] }, options);
    expect(await bench.channel.reconcile?.({ ...intent, content }, never)).toEqual({
      outcome: "sent",
      messageId: parts[0]?.messageId,
    });
    const past = await bench.channel.history?.(chat, { limit: 5, signal: never });
    expect(past?.map((one) => [one.text, one.sender.isSelf])).toEqual([
      ["hi", false],
      ["- **done**", true],
    ]);
    bench.fakeServer.addResource("om_1", "img_1", Buffer.from("pixels"), { mimeType: "image/png" });
    const ref = { messageId: "om_1", key: "img_1", type: "image" };
    const media = await bench.channel.fetchMedia?.(
      { kind: "image", mimeType: "application/octet-stream", ref },
      never,
    );
    expect(media?.mimeType).toBe("image/png");
    expect(await new Response(media?.body).text()).toBe("pixels");
  });

  it("reads the past up to a time within a second", async () => {
    await using bench = await openBench();
    const second = Math.floor(Date.now() / 1000) * 1000 - 10_000;
    for (const ms of [100, 400, 700])
      bench.fakeServer.plant({
        messageId: `om_${ms}`,
        chatId: chat.id,
        msgType: "text",
        content: JSON.stringify({ text: `at ${ms}` }),
        senderId: "ou_sender",
        at: second + ms,
      });
    const past = await bench.channel.history?.(chat, { limit: 2, before: second + 500, signal: never });
    expect(past?.map(({ text }) => text)).toEqual(["at 100", "at 400"]);
    // Feishu does not say that the second of an end belongs to what it lists.
    const asked = bench.fakeServer.requests
      .map(({ path }) => path)
      .filter((path) => path.includes("end_time"));
    expect(asked).toEqual([expect.stringContaining(`end_time=${second / 1000 + 1}`)]);
  });

  it("takes no other message without letters for one that it looks for", async () => {
    await using bench = await openBench();
    await bench.channel.send(chat, { parts: [{ type: "text", text: "🎉" }] }, options);
    const intent = { to: chat, idempotencyKey: "k", part: 0, attemptedAt: Date.now() } as const;
    const look = async (text: string) =>
      (await bench.channel.reconcile?.({ ...intent, content: { type: "text", text } }, never))?.outcome;
    expect(await look("👍")).toBe("not_sent");
    expect(await look("🎉")).toBe("sent");
  });

  it("does not say that a message is not out where it could not have seen it", async () => {
    await using bench = await openBench();
    const intent = { idempotencyKey: "k", part: 0, attemptedAt: Date.now() } as const;
    const words = { type: "markdown", text: "words" } as const;
    const table = { type: "markdown", text: "# Title" } as const;
    const look = async (to: { id: string; rootId?: string }, content: typeof words | typeof table) =>
      (await bench.channel.reconcile?.({ ...intent, to, content }, never))?.outcome;
    expect(await look(chat, table)).toBe("not_sent");
    await bench.channel.send(chat, { parts: [{ type: "markdown", text: "# Another card" }] }, options);
    expect(await look(chat, table)).toBe("unknown");
    expect(await look(chat, words)).toBe("not_sent");
    expect(await look({ ...chat, rootId: "om_root" }, words)).toBe("unknown");
    expect(await look({ id: "ou_sender" }, words)).toBe("unknown");
  });

  it("asks for a name once, and for an unknown one not again for a while", async () => {
    await using bench = await openBench();
    const asked = () => bench.fakeServer.requests.filter((one) => one.path.includes("/contact/")).length;
    expect(await bench.channel.resolve?.("ou_sender", never)).toEqual({ name: "张三" });
    expect(await bench.channel.resolve?.("ou_sender", never)).toEqual({ name: "张三" });
    expect(asked()).toBe(1);
    expect(await bench.channel.resolve?.("ou_nobody", never)).toBeUndefined();
    expect(await bench.channel.resolve?.("ou_nobody", never)).toBeUndefined();
    expect(asked()).toBe(2);
  });
});
