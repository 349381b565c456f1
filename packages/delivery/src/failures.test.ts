import { expect, it } from "vitest";
import { createReplyBackoff, Failures } from "./failures.ts";

it("doubles the delay with each failure of a row, up to five minutes, and starts over after its end", () => {
  const failures = new Failures(createReplyBackoff(() => 1));
  expect([1, 2, 3].map(() => failures.add("a"))).toEqual([1_000, 2_000, 4_000]);
  expect(failures.add("b")).toBe(1_000);
  for (let i = 0; i < 20; i++) failures.add("a");
  expect(failures.add("a")).toBe(300_000);
  failures.delete("a");
  expect(failures.add("a")).toBe(1_000);
  expect(new Failures(createReplyBackoff(() => 0)).add("a")).toBe(500);
});

it("reports a reason as new if it differs from the previous one", () => {
  const failures = new Failures(createReplyBackoff(() => 1));
  const reasons = ["down", "down", "refused", "down"];
  expect(reasons.map((reason) => failures.isNewReason("a", reason))).toEqual([true, false, true, true]);
  expect(failures.isNewReason("b", "down")).toBe(true);
  failures.delete("a");
  expect(failures.isNewReason("a", "down")).toBe(true);
});
