import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { untilAborted } from "./until-aborted.ts";

const never = new Promise<never>(() => {});

it("gives what the work gives, or fails as it does, and leaves nothing on the signal", async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
  await expect(untilAborted(Promise.reject(new Error("broken")), signal)).rejects.toThrow("broken");
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

it("rejects once the signal fires, with its reason or another error", async () => {
  const stop = new AbortController();
  const waiting = untilAborted(never, stop.signal);
  stop.abort("enough");
  await expect(waiting).rejects.toBe("enough");
  await expect(untilAborted(never, stop.signal, () => new Error("late"))).rejects.toThrow("late");
});
