import { isChannelError } from "@signalbox/channel";
import { expectChannelError } from "@signalbox/channel/testkit";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { type Bench, never, openBench as openBenchWith } from "./harness.ts";

const chat = { id: "oc_direct" };
const words = (text: string) => ({ parts: [{ type: "markdown" as const, text }] });

/** An account whose answers are not streamed. */
const openBench = (options: Parameters<typeof openBenchWith>[1] = {}) =>
  openBenchWith({ verificationToken: "token-of-the-app", streams: false }, options);

function openDraft({ channel }: Bench, options: { replyTo?: string; messageId?: string } = {}, to = chat) {
  const draft = channel.openDraft?.(to, { idempotencyKey: "run1", signal: never, ...options });
  if (draft === undefined) throw new Error("there are no drafts");
  return draft;
}

describe("a draft as a card that is patched", () => {
  it("is a shared card that answers the message, patched until it is the finished answer", async () => {
    await using bench = await openBench();
    await bench.post(textMessage("hi", { messageId: "om_1" }));
    const draft = await openDraft(bench, { replyTo: "om_1" });
    await draft.update("**wo");
    await draft.update("**wor");
    await draft.finalize(words('**words** <at user_id="all"></at> ![x](http://a/b.png)'));
    expect(bench.fakeServer.sent).toHaveLength(1);
    const [sent] = bench.fakeServer.sent;
    expect(sent).toMatchObject({ msgType: "interactive", parentId: "om_1", uuid: "run1.0" });
    expect(sent?.content).toContain('"update_multi":true');
    expect(sent?.edits).toHaveLength(2);
    const last = JSON.parse(sent?.edits.at(-1) ?? "");
    expect(last.body.elements).toEqual([
      { tag: "markdown", content: '**words** <\u200bat user_id="all"><\u200b/at> [x](http://a/b.png)' },
    ]);
  });

  it("does not read what is plain text as markup", async () => {
    await using bench = await openBench();
    const draft = await openDraft(bench);
    await draft.update("a");
    await draft.finalize({ parts: [{ type: "text", text: "a*b*c" }] });
    expect(JSON.parse(bench.fakeServer.sent[0]?.edits.at(-1) ?? "").body.elements).toEqual([
      { tag: "div", text: { tag: "plain_text", content: "a*b*c" } },
    ]);
  });

  it("does not repeat a text that is shown already", async () => {
    await using bench = await openBench();
    const draft = await openDraft(bench);
    for (let round = 0; round < 3; round += 1) await draft.update("x".repeat(14_000 + round));
    await draft.update("  ");
    expect(bench.fakeServer.sent[0]?.edits).toHaveLength(1);
  });

  it("is too fast, as Feishu says, at the sixth change in a second, and goes on later", async () => {
    await using bench = await openBench({ rateLimit: true });
    const draft = await openDraft(bench);
    for (let round = 0; round < 6; round += 1) await draft.update(`words ${round}`);
    expect(await expectChannelError(draft.update("words"))).toMatchObject({
      code: "rate_limited",
      platformCode: "230020",
    });
    expect(bench.fakeServer.sent[0]?.edits).toHaveLength(5);
    bench.fakeServer.setRateLimit(false);
    await draft.finalize(words("the words"));
    expect(bench.fakeServer.sent[0]?.edits.at(-1)).toContain("the words");
  });

  it("begins no request once it was given up", async () => {
    await using bench = await openBench();
    const giveUp = new AbortController();
    const draft = await bench.channel.openDraft?.(chat, { idempotencyKey: "run1", signal: giveUp.signal });
    await draft?.update("one");
    bench.fakeServer.fail({ kind: "hang", method: "PATCH", path: "/im/v1/messages" });
    const hanging = draft?.update("two");
    const asked = () => bench.fakeServer.requests.filter(({ method }) => method === "PATCH").length;
    await expect.poll(asked).toBe(1);
    const behind = draft?.update("three");
    giveUp.abort();
    expect(isChannelError(await hanging?.catch((error: unknown) => error))).toBe(true);
    await behind;
    await draft?.update("four");
    expect(asked()).toBe(1);
    // Feishu had the one that was under way.
    expect(bench.fakeServer.sent[0]?.edits).toEqual([expect.stringContaining("two")]);
  });

  it("may be finished again when the answer to that was lost", async () => {
    await using bench = await openBench();
    const draft = await openDraft(bench);
    await draft.update("wor");
    bench.fakeServer.fail({ kind: "cut", method: "PATCH" });
    expect((await expectChannelError(draft.finalize(words("words")))).code).toBe("unknown_outcome");
    await draft.finalize(words("words"));
    expect(bench.fakeServer.sent).toHaveLength(1);
  });

  it("says how far it came when a part after the first fails", async () => {
    await using bench = await openBench();
    const draft = await openDraft(bench);
    await draft.update("one");
    bench.fakeServer.fail({ kind: "code", code: 230020, method: "POST" });
    const parts = [...words("one").parts, ...words("two").parts];
    const error = await expectChannelError(draft.finalize({ parts }, { idempotencyKey: "row1" }));
    expect(error.receipt?.parts).toEqual([{ index: 0, messageId: draft.messageId }]);
    await bench.channel.send(chat, { parts }, { idempotencyKey: "row1", signal: never, startAt: 1 });
    expect(bench.fakeServer.sent.map((one) => one.uuid)).toEqual(["run1.0", "row1.1"]);
  });

  it("takes a card back that it only may have sent", async () => {
    await using bench = await openBench();
    const draft = await openDraft(bench);
    bench.fakeServer.fail({ kind: "cut", method: "POST" });
    expect((await expectChannelError(draft.update("wor"))).code).toBe("unknown_outcome");
    await draft.abort();
    expect(bench.fakeServer.sent.map((one) => one.deleted)).toEqual([true]);
    const gone = await openDraft(bench, { messageId: bench.fakeServer.sent[0]?.messageId ?? "" });
    await gone.abort();
    expect((await expectChannelError(gone.finalize(words("words")))).code).toBe("invalid");
  });

  it("is not taken for a message with the same words", async () => {
    await using bench = await openBench();
    const draft = await openDraft(bench);
    await draft.update("the words");
    const intent = { to: chat, idempotencyKey: "k", part: 0, attemptedAt: Date.now() } as const;
    const look = () =>
      bench.channel.reconcile?.({ ...intent, content: { type: "markdown", text: "the words" } }, never);
    expect(await look()).toEqual({ outcome: "not_sent" });
    const { parts } = await bench.channel.send(chat, words("the words"), {
      idempotencyKey: "k",
      signal: never,
    });
    expect(await look()).toEqual({ outcome: "sent", messageId: parts[0]?.messageId });
  });

  it("takes up neither a message of another conversation nor one that is no card", async () => {
    await using bench = await openBench();
    const { parts } = await bench.channel.send(chat, words("plain"), { idempotencyKey: "k", signal: never });
    const messageId = parts[0]?.messageId ?? "";
    expect((await expectChannelError(openDraft(bench, { messageId }, { id: "oc_other" }))).code).toBe(
      "not_found",
    );
    const draft = await openDraft(bench, { messageId });
    expect((await expectChannelError(draft.finalize(words("words")))).code).toBe("invalid");
    expect(bench.fakeServer.sent[0]).toMatchObject({ edits: [], deleted: false });
  });
});
