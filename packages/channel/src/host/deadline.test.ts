import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { deadline } from "./deadline.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("fires after the time limit with a TimeoutError", () => {
  const { signal } = deadline(50);
  vi.advanceTimersByTime(49);
  expect(signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(signal.reason).toMatchObject({ name: "TimeoutError" });
});

test.each([2 ** 31, Number.POSITIVE_INFINITY])(
  "does not fire at once if %d ms exceed the range of a timer",
  (ms) => {
    const { signal, end } = deadline(ms);
    vi.advanceTimersByTime(3_600_000);
    expect(signal.aborted).toBe(false);
    end();
  },
);

test("fires with the reason of the first parent that fires", () => {
  const one = new AbortController();
  const other = new AbortController();
  const { signal } = deadline(50, one.signal, undefined, other.signal);
  other.abort("over");
  one.abort("later");
  expect(signal.reason).toBe("over");
});

test("fires at once if a parent has already fired", () => {
  expect(deadline(50, AbortSignal.abort("before")).signal.reason).toBe("before");
});

test("releases its timer and listeners on end, and never fires afterwards", () => {
  const parent = new AbortController();
  const { signal, end } = deadline(50, parent.signal);
  end();
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(parent.signal, "abort")).toHaveLength(0);
  parent.abort();
  expect(signal.aborted).toBe(false);
});

test("restarts the time limit on restart, and suspends it on pause", () => {
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

test("fires with a parent while it is paused", () => {
  const parent = new AbortController();
  const { signal, pause } = deadline(50, parent.signal);
  pause();
  parent.abort("over");
  expect(signal.reason).toBe("over");
});

test("releases its listeners when it fires", () => {
  const parent = new AbortController();
  deadline(50, parent.signal);
  vi.advanceTimersByTime(50);
  expect(getEventListeners(parent.signal, "abort")).toHaveLength(0);
});
