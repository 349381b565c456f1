import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { releaseIdleMemory } from "./idle-memory.ts";

const MB = 1_048_576;
let busy = 0;
let heap = 0;
let collected = 0;
let stop = () => {};

beforeEach(() => {
  vi.useFakeTimers();
  busy = 0;
  heap = 40 * MB;
  collected = 0;
  stop = releaseIdleMemory({
    collect() {
      collected++;
      heap = 50 * MB;
    },
    heapSize: () => heap,
    utilization: () => busy,
    mark: () => ({ idle: 0, active: 0, utilization: 0 }),
  });
});
afterEach(() => {
  stop();
  vi.useRealTimers();
});

test("collects once after a burst, when it has been quiet for seconds", () => {
  busy = 0.9;
  heap = 90 * MB;
  vi.advanceTimersByTime(10_000);
  expect(collected).toBe(0);
  busy = 0;
  vi.advanceTimersByTime(2_000);
  expect(collected).toBe(0);
  vi.advanceTimersByTime(1_000);
  expect(collected).toBe(1);
  vi.advanceTimersByTime(60_000);
  expect(collected).toBe(1);
});

test("a little work now and then puts it off", () => {
  heap = 90 * MB;
  for (let i = 0; i < 20; i++) {
    busy = i % 3 === 0 ? 0.5 : 0;
    vi.advanceTimersByTime(1_000);
  }
  expect(collected).toBe(0);
});

test("what a start leaves behind is collected, however little the heap has grown since", () => {
  vi.advanceTimersByTime(3_000);
  expect(collected).toBe(1);
});

test("a heap that has hardly grown since is left alone", () => {
  vi.advanceTimersByTime(5_000);
  heap = 55 * MB;
  vi.advanceTimersByTime(60_000);
  expect(collected).toBe(1);
});

test("the next burst is collected too", () => {
  for (let burst = 1; burst <= 3; burst++) {
    heap = 120 * MB;
    vi.advanceTimersByTime(5_000);
    expect(collected).toBe(burst);
  }
});
