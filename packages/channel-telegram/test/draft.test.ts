import { type Clock, systemClock } from "@signalbox/channel";
import { turnedClock } from "@signalbox/channel/testkit";
import { describe, expect, it } from "vitest";
import { never, openBench } from "./harness.ts";

/** A clock that moves on only by what a draft is asked to wait, and tells how long that was. */
function hastyClock() {
  let now = Date.now();
  const waits: number[] = [];
  const clock: Clock = {
    now: () => now,
    async delay(ms, signal) {
      // What connections wait for is not what is tested.
      if (ms > 4_000) return systemClock.delay(ms, signal);
      signal?.throwIfAborted();
      waits.push(ms);
      now += ms;
    },
  };
  const pass = (ms: number): void => {
    now += ms;
  };
  return { clock, waits, pass };
}

async function openDraft(chatId: string, clock: Clock, flood = false) {
  // The stand-in's rates go by the same clock.
  const bench = await openBench({}, { context: { clock }, now: () => clock.now(), flood });
  const draft = await bench.channel.openDraft?.({ chatId }, { idempotencyKey: "d", signal: never });
  if (draft === undefined) throw new Error("no draft");
  return { bench, draft };
}

describe("a draft", () => {
  it.each([
    ["5001", 1_100],
    ["-1001234", 3_100],
  ])("in %s changes no faster than Telegram takes it", async (chatId, everyMs) => {
    const { clock, waits, pass } = hastyClock();
    const { bench, draft } = await openDraft(chatId, clock, true);
    await using _ = bench;
    for (let length = 1; length <= 30; length += 1) await draft.update("word ".repeat(length));
    expect(waits).toHaveLength(29);
    expect(waits.every((ms) => ms > everyMs / 2 && ms <= everyMs)).toBe(true);
    // The end waits for nobody's turn: what Telegram refuses for being too fast, the host sends again.
    pass(everyMs);
    await draft.finalize({ parts: [{ type: "markdown", text: "**the end**" }] });
    expect(bench.standIn.sent).toMatchObject([{ text: "the end" }]);
    // Never more changes than asked for, and no flood: a refusal would have failed an update.
    expect(bench.standIn.sent[0]?.texts).toHaveLength(31);
  });

  it("ends at once, without waiting for its turn", async () => {
    // Nobody turns it, so that no pause ends by itself.
    const clock = turnedClock();
    const { bench, draft } = await openDraft("-1001234", clock);
    await using _ = bench;
    await draft.update("one");
    const late = draft.update("one and");
    await expect.poll(() => clock.waiting).toBe(1);
    await draft.finalize({ parts: [{ type: "text", text: "one and all" }] });
    await late;
    expect(bench.standIn.sent).toMatchObject([{ text: "one and all" }]);
  });

  it("that is refused for being too fast says until when, and tries nothing by itself", async () => {
    const { clock } = hastyClock();
    const { bench, draft } = await openDraft("5001", clock);
    await using _ = bench;
    await draft.update("one");
    bench.standIn.fail({ kind: "rate", retryAfter: 17, path: "editMessageText" });
    const before = bench.standIn.requests.length;
    await expect(draft.update("one and")).rejects.toMatchObject({
      code: "rate_limited",
      retryAfterMs: 17_000,
    });
    expect(bench.standIn.requests.length - before).toBe(1);
  });

  it("whose message somebody deleted is refused for good", async () => {
    const { clock } = hastyClock();
    const { bench, draft } = await openDraft("5001", clock);
    await using _ = bench;
    await draft.update("one");
    await bench.channel.remove?.({ chatId: "5001" }, draft.messageId ?? "", never);
    await expect(draft.finalize({ parts: [{ type: "text", text: "all" }] })).rejects.toMatchObject({
      code: "not_found",
    });
  });
});
