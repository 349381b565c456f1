import { describe, expect, it } from "vitest";
import { createGapDetector, createInMemoryState } from "../index.ts";
import { createAdjustableClock } from "../testkit/index.ts";

describe("createGapDetector", () => {
  const start = Date.UTC(2026, 0, 1);

  it("reports a gap after a process that ended without a stop, from its last note on", async () => {
    const context = { state: createInMemoryState(), clock: createAdjustableClock(start) };
    const crashed = createGapDetector(context, "bot");
    expect(await crashed.begin()).toBeUndefined();
    context.clock.advance(59_000);
    await crashed.note();
    context.clock.advance(1_000);
    await crashed.note();
    context.clock.advance(30_000);
    expect(await createGapDetector(context, "bot").begin()).toEqual({
      from: start + 60_000,
      to: start + 90_000,
    });
  });

  it("reports no gap after an orderly stop, and none of another bot", async () => {
    const context = { state: createInMemoryState(), clock: createAdjustableClock(start) };
    const stopped = createGapDetector(context, "bot");
    await stopped.begin();
    expect(await createGapDetector(context, "another bot").begin()).toBeUndefined();
    await stopped.end();
    expect(await createGapDetector(context, "bot").begin()).toBeUndefined();
  });
});
