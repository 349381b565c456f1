import { describe, expect, it } from "vitest";
import { createGapDetector, createInMemoryState, type EmitResult } from "../index.ts";
import { createAdjustableClock, expectChannelError } from "../testkit/index.ts";
import type { Gap } from "./gap-detector.ts";

const start = Date.UTC(2026, 0, 1);

function setup() {
  const context = { state: createInMemoryState(), clock: createAdjustableClock(start) };
  /** Begins as a new process and returns the gaps that it reports. */
  async function begin(botId = "bot"): Promise<readonly Gap[]> {
    const gaps: Gap[] = [];
    await createGapDetector(context, botId).begin(async (gap) => {
      gaps.push(gap);
      return "accepted";
    });
    return gaps;
  }
  return { context, begin };
}

const accept = async (): Promise<EmitResult> => "accepted";

describe("createGapDetector", () => {
  it("reports a gap after a process that ended without a stop, from its last note on", async () => {
    const { context, begin } = setup();
    const crashed = createGapDetector(context, "bot");
    await crashed.begin(() => Promise.reject(new Error("there is no gap")));
    context.clock.advance(59_000);
    await crashed.note();
    context.clock.advance(1_000);
    await crashed.note();
    context.clock.advance(30_000);
    expect(await begin()).toEqual([{ from: start + 60_000, to: start + 90_000 }]);
    context.clock.advance(10_000);
    expect(await begin()).toEqual([{ from: start + 90_000, to: start + 100_000 }]);
  });

  it("reports no gap after an orderly stop, and none of another bot", async () => {
    const { context, begin } = setup();
    const stopped = createGapDetector(context, "bot");
    await stopped.begin(accept);
    expect(await begin("another bot")).toEqual([]);
    await stopped.end();
    expect(await begin()).toEqual([]);
  });

  it("reports a gap again, from the same time on, until the report was accepted", async () => {
    const { context, begin } = setup();
    await begin();
    context.clock.advance(10_000);
    const failing = createGapDetector(context, "bot");
    await expectChannelError(
      failing.begin(async () => "rejected"),
      "A rejected report",
      "transient",
    );
    await expect(failing.begin(() => Promise.reject(new Error("the disk is full")))).rejects.toThrow("full");
    await failing.note();
    await failing.end();
    // The process dies while it reports.
    const reporting = Promise.withResolvers<void>();
    void createGapDetector(context, "bot").begin(() => {
      reporting.resolve();
      return new Promise(() => {});
    });
    await reporting.promise;
    context.clock.advance(10_000);
    expect(await begin()).toEqual([{ from: start, to: start + 20_000 }]);
  });

  it("repeats a note that could not be written with the next event", async () => {
    const { context, begin } = setup();
    let isFull = false;
    const set: typeof context.state.set = async (key, value) => {
      if (isFull) throw new Error("the disk is full");
      await context.state.set(key, value);
    };
    const gaps = createGapDetector({ ...context, state: { ...context.state, set } }, "bot");
    await gaps.begin(accept);
    context.clock.advance(60_000);
    isFull = true;
    await expect(gaps.note()).rejects.toThrow("full");
    isFull = false;
    context.clock.advance(1_000);
    await gaps.note();
    expect(await begin()).toEqual([{ from: start + 61_000, to: start + 61_000 }]);
  });
});
