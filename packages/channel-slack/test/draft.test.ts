import { expectChannelError } from "@signalbox/channel/testkit";
import { channelMention } from "@signalbox/testkit/slack";
import { describe, expect, it } from "vitest";
import { type Bench, type BenchOptions, createAdjustableClock, never, openBench } from "./harness.ts";

const root = "1767225600.000100";
const thread = { channel: "C_GENERAL", thread: root };
const words = (...texts: string[]) => ({ parts: texts.map((text) => ({ type: "markdown" as const, text })) });

/** Opens a channel that received a question and a draft of the answer. */
async function openDraft(options: BenchOptions = {}, config: { streams?: boolean } = {}) {
  const bench = await openBench({ transport: "webhook", ...config }, options);
  await bench.fakeServer.postEvent(bench.url, channelMention("go", "U_BOT", { ts: root, user: "U_ANN" }));
  return { bench, draft: await reopen(bench) };
}

async function reopen(
  { channel }: Bench,
  messageId?: string,
  to: typeof thread | { channel: string } = thread,
) {
  const draft = await channel.openDraft?.(to, {
    idempotencyKey: "run1",
    signal: never,
    replyTo: `C_GENERAL:${root}`,
    messageId,
  });
  if (draft === undefined) throw new Error("there are no drafts");
  return draft;
}

/** The writing methods that were called, in order. */
function written({ fakeServer }: Bench): string[] {
  return fakeServer.called.filter((method) => method.startsWith("chat."));
}

/** Texts of the bot's existing messages. */
function standing({ fakeServer }: Bench): (string | undefined)[] {
  return fakeServer.sent.filter(({ isDeleted }) => !isDeleted).map(({ shown }) => shown.at(-1));
}

/** Sends an earlier answer, which was a stream. */
async function earlierAnswer({ channel }: Bench): Promise<void> {
  const draft = await channel.openDraft?.(thread, {
    idempotencyKey: "run0",
    signal: never,
    replyTo: `C_GENERAL:${root}`,
  });
  await draft?.update("an earlier");
  await draft?.finalize(words("an earlier answer"));
}

describe("a draft as Slack's stream", () => {
  it("is opened for the sender, appends new text and is closed with the final answer", async () => {
    const { bench, draft } = await openDraft();
    await using _ = bench;
    for (const text of ["**wo", "**words", "**words** <!channel>"]) await draft.update(text);
    await draft.finalize(words("**words** <!channel> and all"));
    expect(written(bench)).toEqual([
      "chat.startStream",
      "chat.appendStream",
      "chat.appendStream",
      "chat.appendStream",
      "chat.stopStream",
    ]);
    const start = bench.fakeServer.requests.find(({ path }) => path.endsWith("chat.startStream"));
    expect(Object.fromEntries(new URLSearchParams(start?.text))).toMatchObject({
      thread_ts: root,
      recipient_user_id: "U_ANN",
      recipient_team_id: "T_TEAM",
    });
    expect(bench.fakeServer.sent.map(({ shown }) => shown.at(-1))).toEqual([
      "**words** <\u200b!channel> and all",
    ]);
  });

  it("is closed before Slack ends it, and the message is edited from then on", async () => {
    const clock = createAdjustableClock();
    const { bench, draft } = await openDraft({ fakeServer: { now: clock.now }, context: { clock } });
    await using _ = bench;
    let text = "";
    for (let minute = 0; minute < 12; minute += 1) {
      text += `minute ${minute}. `;
      await draft.update(text);
      clock.advance(60_000);
    }
    await draft.finalize(words(`${text}The end.`));
    expect(bench.fakeServer.sent).toHaveLength(1);
    expect(bench.fakeServer.sent[0]?.shown.at(-1)).toBe(`${text}The end.`);
    const [start, ...rest] = written(bench);
    expect([start, rest[3], rest[4], rest[5], rest.at(-1)]).toEqual([
      "chat.startStream",
      "chat.appendStream",
      "chat.stopStream",
      "chat.update",
      "chat.update",
    ]);
    // Every text was shown, in order.
    expect(bench.fakeServer.sent[0]?.shown).toHaveLength(13);
  });

  it("loses no text if Slack ended the stream early", async () => {
    const clock = createAdjustableClock();
    const { bench, draft } = await openDraft({
      fakeServer: { now: clock.now, streamMs: 1_000 },
      context: { clock },
    });
    await using _ = bench;
    await draft.update("one");
    clock.advance(2_000);
    await draft.update("one two");
    clock.advance(2_000);
    await draft.finalize(words("one two three", "four"));
    expect(bench.fakeServer.sent.map(({ shown }) => shown.at(-1))).toEqual(["one two three", "four"]);
  });

  it("is finalized in place if Slack ended the stream just before", async () => {
    const clock = createAdjustableClock();
    const { bench, draft } = await openDraft({
      fakeServer: { now: clock.now, streamMs: 1_000 },
      context: { clock },
    });
    await using _ = bench;
    await draft.update("one");
    clock.advance(2_000);
    await draft.finalize(words("one"));
    expect(bench.fakeServer.sent.map(({ shown }) => shown.at(-1))).toEqual(["one"]);
  });

  it("is edited if the final text does not start with the shown text", async () => {
    const { bench, draft } = await openDraft();
    await using _ = bench;
    await draft.update("first thoughts");
    await draft.update("another answer");
    await draft.finalize({ parts: [{ type: "text", text: "a *plain* <@U_ANN> & <b>" }] });
    expect(written(bench)).toEqual(["chat.startStream", "chat.stopStream", "chat.update", "chat.update"]);
    const [sent] = bench.fakeServer.sent;
    expect(sent?.shown.at(-1)).toBe("a *plain* <@U_ANN> & <b>");
    expect(sent?.content.blocks).toMatchObject([{ type: "rich_text" }]);
  });

  it("does not append text again whose arrival is unknown", async () => {
    const { bench, draft } = await openDraft();
    await using _ = bench;
    await draft.update("one ");
    bench.fakeServer.fail({ kind: "cut", method: "chat.appendStream" });
    expect((await expectChannelError(draft.update("one two "))).code).toBe("unknown_outcome");
    await draft.update("one two three");
    expect(bench.fakeServer.sent[0]?.shown.at(-1)).toBe("one two three");
    expect(written(bench).slice(-2)).toEqual(["chat.stopStream", "chat.update"]);
  });

  it("is found again if the response to its start was lost", async () => {
    const { bench, draft } = await openDraft();
    await using _ = bench;
    await earlierAnswer(bench);
    bench.fakeServer.fail({ kind: "cut", method: "chat.startStream" });
    await draft.update("one");
    await draft.finalize(words("one and all"));
    expect(standing(bench)).toEqual(["an earlier answer", "one and all"]);
  });

  it("is deleted after the answer was sent if it could not be found before", async () => {
    const { bench, draft } = await openDraft();
    await using _ = bench;
    await earlierAnswer(bench);
    bench.fakeServer.fail({ kind: "cut", method: "chat.startStream" });
    bench.fakeServer.fail({ kind: "cut", method: "conversations.replies" });
    expect((await expectChannelError(draft.update("one"))).code).toBe("unknown_outcome");
    await bench.channel.send(thread, words("one and all"), { idempotencyKey: "row1", signal: never });
    expect(standing(bench)).toEqual(["an earlier answer", "one and all"]);
  });

  it("is not confused with an earlier lost stream", async () => {
    const { bench, draft } = await openDraft();
    await using _ = bench;
    bench.fakeServer.fail({ kind: "cut", method: "chat.startStream" });
    bench.fakeServer.fail({ kind: "cut", method: "conversations.replies", times: 2 });
    await expectChannelError(draft.update("one"));
    await bench.channel.send(thread, words("one and all"), { idempotencyKey: "row1", signal: never });
    const next = await bench.channel.openDraft?.(thread, {
      idempotencyKey: "run2",
      signal: never,
      replyTo: `C_GENERAL:${root}`,
    });
    await next?.update("two");
    await bench.channel.send(thread, words("an aside"), { idempotencyKey: "row2", signal: never });
    await next?.finalize(words("two and all"));
    expect(standing(bench)).toEqual(["one", "one and all", "two and all", "an aside"]);
  });

  it("is continued by a later process that did not open the stream", async () => {
    const { bench, draft } = await openDraft();
    await using _ = bench;
    await draft.update("one");
    const later = await reopen(bench, draft.messageId);
    await later.finalize(words("one and all"));
    expect(bench.fakeServer.sent.map(({ shown }) => shown.at(-1))).toEqual(["one and all"]);
    expect(written(bench)).toEqual(["chat.startStream", "chat.update", "chat.stopStream", "chat.update"]);
  });

  it("reports the wait that Slack requests", async () => {
    const { bench, draft } = await openDraft();
    await using _ = bench;
    await draft.update("one");
    bench.fakeServer.fail({ kind: "rate", method: "chat.appendStream", retryAfter: 7 });
    expect(await expectChannelError(draft.update("one two"))).toMatchObject({
      code: "rate_limited",
      retryAfterMs: 7_000,
    });
    await draft.update("one two three");
    expect(bench.fakeServer.sent[0]?.shown.at(-1)).toBe("one two three");
  });
});

describe("a draft by edits", () => {
  it.each([
    ["if streams are off", {}, { streams: false }, thread],
    ["outside of threads", {}, {}, { channel: "C_GENERAL" }],
  ] as const)("is used %s", async (_name, options, config, to) => {
    const bench = await openBench({ transport: "webhook", ...config }, options);
    await using _ = bench;
    const draft = await reopen(bench, undefined, to);
    await draft.update("one");
    await draft.finalize(words("one and all"));
    expect(written(bench)).toEqual(["chat.postMessage", "chat.update"]);
    expect(bench.fakeServer.sent.map(({ shown }) => shown.at(-1))).toEqual(["one and all"]);
  });

  it("is used if the workspace has no streams or the recipient is unknown", async () => {
    const { bench, draft } = await openDraft();
    await using _ = bench;
    bench.fakeServer.fail({ kind: "error", error: "unknown_method", method: "chat.startStream" });
    await draft.update("one");
    expect(written(bench)).toEqual(["chat.startStream", "chat.postMessage"]);
    const stranger = await bench.channel.openDraft?.(
      { channel: "C_OTHER", thread: "1.2" },
      { idempotencyKey: "run2", signal: never },
    );
    await stranger?.update("two");
    expect(written(bench).at(-1)).toBe("chat.postMessage");
  });

  it("finds the message of an attempt whose response was lost, and deletes it", async () => {
    const bench = await openBench({ transport: "webhook" });
    await using _ = bench;
    const draft = await reopen(bench, undefined, { channel: "D_DIRECT" });
    bench.fakeServer.fail({ kind: "cut" });
    expect((await expectChannelError(draft.update("one"))).code).toBe("unknown_outcome");
    await draft.abort();
    expect(bench.fakeServer.sent.map(({ isDeleted }) => isDeleted)).toEqual([true]);
    expect((await expectChannelError(reopen(bench, "C_OTHER:1.2"))).code).toBe("not_found");
  });
});
