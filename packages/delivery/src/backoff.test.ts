import { expect, it } from "vitest";
import { FailureCounts } from "./backoff.ts";

it("doubles with each failure of one row, up to five minutes, and begins anew with the next", () => {
  const failures = new FailureCounts(() => 1);
  expect([1, 2, 3].map(() => failures.add("a"))).toEqual([1_000, 2_000, 4_000]);
  expect(failures.add("b")).toBe(1_000);
  for (let i = 0; i < 20; i++) failures.add("a");
  expect(failures.add("a")).toBe(300_000);
  failures.forget("a");
  expect(failures.add("a")).toBe(1_000);
  expect(new FailureCounts(() => 0).add("a")).toBe(500);
});
