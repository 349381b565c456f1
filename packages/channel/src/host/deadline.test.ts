import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { deadline } from "./deadline.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("fires when its time is up, with a TimeoutError", () => {
  const { signal } = deadline(50);
  vi.advanceTimersByTime(49);
  expect(signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(signal.reason).toMatchObject({ name: "TimeoutError" });
});

test.each([2 ** 31, Number.POSITIVE_INFINITY])(
  "does not fire at once where %d ms are more than a timer has",
  (ms) => {
    const { signal, end } = deadline(ms);
    vi.advanceTimersByTime(3_600_000);
    expect(signal.aborted).toBe(false);
    end();
  },
);

test("fires with whichever parent fires first, and gives its reason", () => {
  const one = new AbortController();
  const other = new AbortController();
  const { signal } = deadline(50, one.signal, undefined, other.signal);
  other.abort("over");
  one.abort("later");
  expect(signal.reason).toBe("over");
});

test("a parent that has fired before counts", () => {
  expect(deadline(50, AbortSignal.abort("before")).signal.reason).toBe("before");
});

test("once ended it leaves nothing behind and never fires", () => {
  const parent = new AbortController();
  const { signal, end } = deadline(50, parent.signal);
  end();
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(parent.signal, "abort")).toHaveLength(0);
  parent.abort();
  expect(signal.aborted).toBe(false);
});

test("counts anew from a restart, and not at all while it is paused", () => {
  const parent = new AbortController();
  const { signal, restart, pause } = deadline(50, parent.signal);
  vi.advanceTimersByTime(40);
  restart();
  vi.advanceTimersByTime(40);
  expect(signal.aborted).toBe(false);
  pause();
  vi.advanceTimersByTime(1_000);
  expect(signal.aborted).toBe(false);
  restart();
  vi.advanceTimersByTime(50);
  expect(signal.reason).toMatchObject({ name: "TimeoutError" });
});

test("listens to its parents while it is paused", () => {
  const parent = new AbortController();
  const { signal, pause } = deadline(50, parent.signal);
  pause();
  parent.abort("over");
  expect(signal.reason).toBe("over");
});

test("a deadline that has fired leaves nothing on its parents", () => {
  const parent = new AbortController();
  deadline(50, parent.signal);
  vi.advanceTimersByTime(50);
  expect(getEventListeners(parent.signal, "abort")).toHaveLength(0);
});
