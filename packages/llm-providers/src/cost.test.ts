import { addUsage, type Usage } from "@signalbox/agent-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costMicros, reportedUsage } from "./cost.ts";

const prices = {
  input: 3_000_000,
  output: 15_000_000,
  cacheRead: 300_000,
  cacheWrite: 3_750_000,
  checked: "2026-11-21",
};

describe("cost", () => {
  it("is rounded to whole micro-dollars", () => {
    expect(costMicros({ input: 1_000, output: 10 }, prices)).toBe(3_150);
    expect(costMicros({ input: 1, output: 0 }, { ...prices, input: 100_000 })).toBe(0);
    expect(costMicros({ input: 10, uncached: 4, cacheRead: 6, output: 0 }, prices)).toBe(14);
  });

  it("includes the higher price of a long cache write", () => {
    const tokens = { input: 100, uncached: 0, cacheWrite: 100, cacheWriteLong: 40, output: 0 };
    expect(costMicros(tokens, prices)).toBe(60 * 3.75 + 40 * 6);
  });

  it("is undefined, not zero, if nothing was reported", () => {
    expect(costMicros({}, prices)).toBeUndefined();
    expect(reportedUsage({}, prices).costMicros).toBeUndefined();
    expect(reportedUsage({ input: 1, output: 1 }, undefined).costMicros).toBeUndefined();
  });

  it("adds up exactly in any order", () => {
    const count = fc.option(fc.nat(2_000_000), { nil: undefined });
    const usage = fc
      .record({ input: count, uncached: count, cacheRead: count, output: count, reasoning: count })
      .map((tokens): Usage => reportedUsage(tokens, prices));
    fc.assert(
      fc.property(fc.array(usage, { minLength: 1, maxLength: 20 }), (usages) => {
        const total = usages.reduce(addUsage);
        expect(total).toEqual(usages.toReversed().reduce(addUsage));
        const sum = usages.reduce((all, one) => all + (one.costMicros ?? 0), 0);
        expect(total.costMicros ?? 0).toBe(sum);
        expect(Number.isSafeInteger(total.costMicros ?? 0)).toBe(true);
      }),
    );
  });
});
