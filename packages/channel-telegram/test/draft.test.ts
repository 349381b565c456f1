import { type Clock, systemClock } from "@signalbox/channel";
import { createAdjustableClock } from "@signalbox/channel/testkit";
import { describe, expect, it } from "vitest";
import { never, openBench } from "./harness.ts";

/** A clock that only advances by the delays it is asked for, and records them. */
function hastyClock() {
  let now = Date.now();
  const waits: number[] = [];
  const clock: Clock = {
    now: () => now,
    async delay(ms, signal) {
      // Delays of connections are real.
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
  // The fake server applies its rate limits by the same clock.
  const bench = await openBench({}, { context: { clock }, now: () => clock.now(), flood });
  const draft = await bench.channel.openDraft?.({ chatId }, { idempotencyKey: "d", signal: never });
  if (draft === undefined) throw new Error("no draft");
  return { bench, draft };
}

describe("a draft", () => {
  it.each([
    ["5001", 1_100],
    ["-1001234", 3_100],
  ])("in chat %s is edited no faster than Telegram allows", async (chatId, everyMs) => {
    const { clock, waits, pass } = hastyClock();
    const { bench, draft } = await openDraft(chatId, clock, true);
    await using _ = bench;
    for (let length = 1; length <= 30; length += 1) await draft.update("word ".repeat(length));
    expect(waits).toHaveLength(29);
    expect(waits.every((ms) => ms > everyMs / 2 && ms <= everyMs)).toBe(true);
    // The final edit does not wait. If Telegram rate-limits it, the host retries.
    pass(everyMs);
    await draft.finalize({ parts: [{ type: "markdown", text: "**the end**" }] });
    expect(bench.fakeServer.sent).toMatchObject([{ text: "the end" }]);
    // A rate-limited update would have thrown.
    expect(bench.fakeServer.sent[0]?.texts).toHaveLength(31);
  });

  it("is finalized without waiting for the edit rate", async () => {
    // A clock that never advances, so no delay ends by itself.
    const clock = createAdjustableClock();
    const { bench, draft } = await openDraft("-1001234", clock);
    await using _ = bench;
    await draft.update("one");
    const late = draft.update("one and");
    await expect.poll(() => clock.pending).toBe(1);
    await draft.finalize({ parts: [{ type: "text", text: "one and all" }] });
    await late;
    expect(bench.fakeServer.sent).toMatchObject([{ text: "one and all" }]);
  });

  it("reports a rate limit with its wait and does not retry by itself", async () => {
    const { clock } = hastyClock();
    const { bench, draft } = await openDraft("5001", clock);
    await using _ = bench;
    await draft.update("one");
    bench.fakeServer.fail({ kind: "rate", retryAfter: 17, path: "editMessageText" });
    const before = bench.fakeServer.requests.length;
    await expect(draft.update("one and")).rejects.toMatchObject({
      code: "rate_limited",
      retryAfterMs: 17_000,
    });
    expect(bench.fakeServer.requests.length - before).toBe(1);
  });

  it("fails permanently if its message was deleted", async () => {
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
