import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { rejectOnAbort } from "./reject-on-abort.ts";

const never = new Promise<never>(() => {});

it("settles like the work and removes its listener", async () => {
  const { signal } = new AbortController();
  expect(await rejectOnAbort(Promise.resolve(1), signal)).toBe(1);
  await expect(rejectOnAbort(Promise.reject(new Error("broken")), signal)).rejects.toThrow("broken");
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

it("rejects when the signal fires, with its reason or a custom error", async () => {
  const stop = new AbortController();
  const waiting = rejectOnAbort(never, stop.signal);
  stop.abort("enough");
  await expect(waiting).rejects.toBe("enough");
  await expect(rejectOnAbort(never, stop.signal, () => new Error("late"))).rejects.toThrow("late");
});
