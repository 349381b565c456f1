import { expect, it } from "vitest";
import { Failures, replyBackoff } from "./failures.ts";

it("doubles with each failure of one row, up to five minutes, and begins anew with the next", () => {
  const failures = new Failures(replyBackoff(() => 1));
  expect([1, 2, 3].map(() => failures.add("a"))).toEqual([1_000, 2_000, 4_000]);
  expect(failures.add("b")).toBe(1_000);
  for (let i = 0; i < 20; i++) failures.add("a");
  expect(failures.add("a")).toBe(300_000);
  failures.forget("a");
  expect(failures.add("a")).toBe(1_000);
  expect(new Failures(replyBackoff(() => 0)).add("a")).toBe(500);
});

it("knows whether a row fails for the reason of the last time", () => {
  const failures = new Failures(replyBackoff(() => 1));
  const reasons = ["down", "down", "refused", "down"];
  expect(reasons.map((reason) => failures.isNews("a", reason))).toEqual([true, false, true, true]);
  expect(failures.isNews("b", "down")).toBe(true);
  failures.forget("a");
  expect(failures.isNews("a", "down")).toBe(true);
});
