import { FencedError, StoreError } from "@signalbox/store";
import { expect, it } from "vitest";
import { isLasting } from "./give-up.ts";

it("tells what fails for good from what passes", () => {
  const told = (error: unknown): boolean[] => [0, 100].map((before) => isLasting(error, before));
  expect(told(new RangeError("no such time zone"))).toEqual([true, true]);
  for (const code of ["disk_full", "locked", "io"] as const) {
    expect(told(new StoreError(code, "later"))).toEqual([false, false]);
    expect(told(new Error("a step", { cause: new StoreError(code, "later") }))).toEqual([false, false]);
  }
  expect(told(new FencedError("gateway", 1, "somebody else"))).toEqual([false, false]);
  // It may be so because of what happens at this moment, or for ever.
  for (const code of ["conflict", "not_found", "corrupt", "busy"] as const)
    expect(told(new StoreError(code, "no"))).toEqual([false, true]);
});
