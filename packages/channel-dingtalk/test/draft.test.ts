import { createInMemoryState, type DraftOptions } from "@signalbox/channel";
import { groupId, person, type RepeatedCard } from "@signalbox/testkit/dingtalk";
import { describe, expect, it } from "vitest";
import { limits } from "../src/limits.ts";
import { createCardNotes } from "../src/outbound/card-notes.ts";
import { type Bench, createAdjustableClock, expectChannelError, never, openBench } from "./harness.ts";

const to = { userId: person.staffId };
const final = { parts: [{ type: "markdown", text: "the **end**" }] } as const;

async function openDraft({ channel }: Bench, options: Partial<DraftOptions> = {}) {
  const draft = await channel.openDraft?.(to, { idempotencyKey: "run-1", signal: never, ...options });
  if (draft === undefined) throw new Error("The channel has no drafts.");
  return draft;
}

function pathsOf({ fakeServer }: Bench): string[] {
  return fakeServer.requests
    .map(({ method, path }) => `${method} ${path}`)
    .filter((path) => path.includes("/card/"));
}

describe("cards", () => {
  it("stream the text into one card, which shows the finished text", async () => {
    await using bench = await openBench();
    const draft = await openDraft(bench);
    await draft.update("on");
    await draft.update("on and");
    expect(bench.fakeServer.sent).toMatchObject([{ kind: "card", isFinished: false }]);
    const receipt = await draft.finalize(final);
    expect(receipt.parts).toEqual([{ index: 0, messageId: draft.messageId }]);
    expect(bench.fakeServer.sent).toMatchObject([
      { id: draft.messageId, to, shown: ["on", "on and", "the **end**"], isFinished: true },
    ]);
    expect(pathsOf(bench)).toEqual([
      "POST /v1.0/card/instances/createAndDeliver",
      "PUT /v1.0/card/streaming",
      "PUT /v1.0/card/streaming",
      "PUT /v1.0/card/instances",
    ]);
  });

  it("keep tables, which messages do not show", async () => {
    await using bench = await openBench();
    const draft = await openDraft(bench);
    await draft.update("| a |\n| - |\n| 1 |");
    expect(bench.fakeServer.sent[0]?.text).toBe("| a |\n| - |\n| 1 |");
  });

  it("are finished by a repetition if the answer to the end of the stream is lost", async () => {
    await using bench = await openBench();
    const draft = await openDraft(bench);
    await draft.update("on");
    bench.fakeServer.fail({ kind: "cut", path: "/card/streaming" });
    await expectChannelError(draft.finalize(final), "finalize with a lost answer", "transient");
    await draft.finalize(final);
    expect(bench.fakeServer.sent).toMatchObject([{ text: "the **end**", isFinished: true }]);
  });

  it("show an ellipsis if they can no longer be taken back", async () => {
    await using bench = await openBench();
    const draft = await openDraft(bench);
    await draft.update("nev");
    bench.fakeServer.answerAt("/v1.0/robot/otoMessages/batchRecall", () =>
      Response.json({ successResult: [], failedResult: { key: "TIMEOUT" } }),
    );
    await draft.abort();
    expect(bench.fakeServer.sent).toMatchObject([{ text: "…", isFinished: true, isRecalled: false }]);
  });

  it("are not created again for half an hour after a permission was missing, so messages are sent instead", async () => {
    const clock = createAdjustableClock();
    await using bench = await openBench({ missingScopes: ["Card.Instance.Write"], context: { clock } });
    const failing = async (key: string) =>
      expectChannelError(
        (await openDraft(bench, { idempotencyKey: key })).update("on"),
        "A draft",
        "permission",
      );
    await failing("run-1");
    await failing("run-2");
    expect(pathsOf(bench)).toHaveLength(1);
    expect(bench.logged.filter((line) => line.includes("lacks the permissions for cards"))).toHaveLength(1);
    clock.advance(31 * 60_000);
    await failing("run-3");
    expect(pathsOf(bench)).toHaveLength(2);
  });

  it("report a conversation to which DingTalk does not deliver them as a lasting refusal", async () => {
    await using bench = await openBench({ groups: [] });
    const draft = await bench.channel.openDraft?.(
      { conversationId: groupId },
      { idempotencyKey: "run-1", signal: never },
    );
    await expectChannelError(
      draft?.update("on") ?? Promise.resolve(),
      "A card for a strange group",
      "invalid",
    );
  });
});

describe("lost answers", () => {
  it.each<[RepeatedCard, number]>([
    ["deliver", 200],
    ["refuse", 20],
    ["accept", 20],
  ])(
    "create one card for each draft, if DingTalk would %s a second one (%i drafts)",
    async (repeatedCard, drafts) => {
      await using bench = await openBench({ repeatedCard });
      const { fakeServer } = bench;
      for (let count = 0; count < drafts; count += 1) {
        const draft = await openDraft(bench, { idempotencyKey: `run-${count}` });
        fakeServer.fail({ kind: "cut", path: "createAndDeliver" });
        await expectChannelError(draft.update("on"), "A draft whose answer is lost", "unknown_outcome");
        // Half of the drafts are continued by another process, which knows only the key.
        const later = count % 2 === 0 ? draft : await openDraft(bench, { idempotencyKey: `run-${count}` });
        await later.finalize({ parts: [{ type: "text", text: `answer ${count}` }] });
      }
      expect(fakeServer.sent.map(({ text, isFinished }) => [text, isFinished])).toEqual(
        Array.from({ length: drafts }, (_, count) => [`answer ${count}`, true]),
      );
    },
  );

  it("create one card for a draft that another process continues after a crash", async () => {
    const state = createInMemoryState();
    await using before = await openBench({ repeatedCard: "deliver", context: { state } });
    const { fakeServer } = before;
    fakeServer.fail({ kind: "cut" });
    await expectChannelError((await openDraft(before)).update("on"), "A draft", "unknown_outcome");
    await using after = await openBench({ fakeServer, context: { state } });
    await (await openDraft(after)).finalize(final);
    expect(fakeServer.sent.map(({ text }) => text)).toEqual(["the **end**"]);
  });

  it("are taken back by another process after a crash", async () => {
    const state = createInMemoryState();
    await using before = await openBench({ context: { state } });
    const { fakeServer } = before;
    const draft = await openDraft(before);
    await draft.update("nev");
    await using after = await openBench({ fakeServer, context: { state } });
    await (await openDraft(after, { messageId: draft.messageId ?? "" })).abort();
    expect(fakeServer.sent).toMatchObject([{ isRecalled: true }]);
  });

  it("create one card for a draft that was finished just before a crash", async () => {
    const state = createInMemoryState();
    await using before = await openBench({ repeatedCard: "deliver", context: { state } });
    const { fakeServer } = before;
    await (await openDraft(before)).finalize(final);
    await using after = await openBench({ fakeServer, context: { state } });
    await (await openDraft(after)).finalize(final);
    expect(fakeServer.sent.map(({ text }) => text)).toEqual(["the **end**"]);
  });

  it("create one card although the notes about it are lost, if DingTalk refuses a second one", async () => {
    await using before = await openBench();
    const { fakeServer } = before;
    await (await openDraft(before)).update("on");
    await using after = await openBench({ fakeServer });
    await (await openDraft(after)).finalize(final);
    expect(fakeServer.sent).toMatchObject([{ text: "the **end**", isFinished: true }]);
  });

  it("create one card for each draft if two gateways create cards with the same state", async () => {
    const state = createInMemoryState();
    await using one = await openBench({ repeatedCard: "deliver", context: { state } });
    const { fakeServer } = one;
    await using two = await openBench({ fakeServer, context: { state } });
    for (const [bench, key] of [
      [one, "run-1"],
      [two, "run-2"],
      [one, "run-3"],
    ] as const)
      await (await openDraft(bench, { idempotencyKey: key })).update("on");
    for (const [bench, key] of [
      [two, "run-1"],
      [one, "run-2"],
      [two, "run-3"],
    ] as const)
      await (await openDraft(bench, { idempotencyKey: key })).finalize(final);
    expect(fakeServer.sent.map(({ text }) => text)).toEqual(Array.from({ length: 3 }, () => "the **end**"));
  });

  it("store notes in a fixed number of slots", async () => {
    const keys = new Set<string>();
    const state = createInMemoryState();
    const set: typeof state.set = async (key, value) => {
      keys.add(key);
      await state.set(key, value);
    };
    const notes = createCardNotes({ state: { ...state, set } }, "dingbot");
    for (let count = 0; count < 5 * limits.notedCards; count += 1) {
      expect(await notes.begin(`card-${count}`)).toBe(false);
      expect(await notes.begin(`card-${count}`)).toBe(true);
    }
    expect(keys.size).toBeGreaterThan(limits.notedCards / 2);
    expect(keys.size).toBeLessThanOrEqual(limits.notedCards);
  });

  it("create a card if the lost request never reached DingTalk", async () => {
    await using bench = await openBench();
    const draft = await openDraft(bench);
    bench.fakeServer.fail({ kind: "status", status: 502 });
    await expectChannelError(draft.update("on"), "A draft during an outage", "unknown_outcome");
    await draft.update("on");
    expect(bench.fakeServer.sent.map(({ text }) => text)).toEqual(["on"]);
  });

  it("create no second card while it is unknown whether the first one exists", async () => {
    await using bench = await openBench({ repeatedCard: "deliver" });
    const draft = await openDraft(bench);
    bench.fakeServer.fail({ kind: "cut" });
    bench.fakeServer.fail({ kind: "status", status: 503, path: "/card/streaming" });
    await expectChannelError(draft.update("on"), "A draft whose answer is lost", "unknown_outcome");
    await expectChannelError(draft.update("on"), "A draft that cannot be looked up", "unknown_outcome");
    await draft.update("on and");
    expect(bench.fakeServer.sent.map(({ text }) => text)).toEqual(["on and"]);
  });
});
