import { expect, it } from "vitest";
import { createScenarioClock, msOf } from "./clock.ts";

it("calls what waits once it is turned on that far, and not what was taken back", () => {
  const start = Date.parse("2026-12-24T20:00:00Z");
  const clock = createScenarioClock(start);
  const called: string[] = [];
  clock.after(msOf("1h"), () => called.push("in an hour"));
  clock.after(msOf("1h 30m"), () => called.push("later"));
  clock.after(msOf("2d"), () => called.push("far off"));
  clock.after(msOf("1h"), () => called.push("never")).cancel();
  clock.advance(msOf("1h 30m"));
  expect(called).toEqual(["in an hour", "later"]);
  expect(clock.now() - start).toBeGreaterThanOrEqual(msOf("90m"));
});
