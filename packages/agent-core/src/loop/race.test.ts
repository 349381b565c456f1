import { afterEach, expect, it, vi } from "vitest";
import { race } from "./race.ts";

afterEach(() => {
  vi.useRealTimers();
});

const never = (): Promise<never> => new Promise(() => {});

it("treats an infinite timeout as no timeout", async () => {
  vi.useFakeTimers();
  let ended = false;
  const raced = race(never(), { timeoutMs: Number.POSITIVE_INFINITY });
  void raced.then(() => {
    ended = true;
  });
  await vi.advanceTimersByTimeAsync(60 * 60 * 1_000);
  expect(ended).toBe(false);
});

it("abandons work after the grace period, and accepts a result until then", async () => {
  vi.useFakeTimers();
  const why: string[] = [];
  const late = race(never(), { timeoutMs: 10, graceMs: 5, onEnding: (reason) => why.push(reason) });
  const inGrace = race(new Promise((resolve) => setTimeout(() => resolve("x"), 12)), {
    timeoutMs: 10,
    graceMs: 5,
  });
  await vi.advanceTimersByTimeAsync(15);
  expect(await late).toEqual({ done: false, ending: "timeout" });
  expect(await inGrace).toEqual({ done: true, value: "x", ending: "timeout" });
  expect(why).toEqual(["timeout"]);
});

it("removes its listener from the signal", async () => {
  const { signal } = new AbortController();
  const added = vi.spyOn(signal, "addEventListener");
  const removed = vi.spyOn(signal, "removeEventListener");
  await race(Promise.resolve(1), { signal });
  await expect(race(Promise.reject(new Error("no")), { signal })).rejects.toThrow("no");
  expect(removed.mock.calls.length).toBe(added.mock.calls.length);
  expect((await race(never(), { signal: AbortSignal.abort() })).done).toBe(false);
});
