import { afterEach, expect, test, vi } from "vitest";
import { createSemaphore } from "./semaphore.ts";
import { inThread } from "./thread.ts";

const program = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);
const ECHO = program(
  'import { parentPort, workerData } from "node:worker_threads"; parentPort.postMessage(workerData)',
);
const FOREVER = program("for (;;);");
const never = () => new AbortController().signal;

afterEach(() => {
  vi.useRealTimers();
});

test("the time of a thread begins when it has its place", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const places = createSemaphore(1);
  const leave = await places.acquire(never());
  const outcome = inThread(ECHO, "work", { places, signal: never(), timeoutMs: 10_000 });
  await vi.advanceTimersByTimeAsync(60_000);
  leave();
  expect(await outcome).toEqual({ kind: "made", value: "work" });
});

test("a thread that takes too long, one that is stopped, and one that breaks are told apart", async () => {
  const places = createSemaphore(1);
  expect(await inThread(FOREVER, 0, { places, signal: never(), timeoutMs: 1 })).toEqual({ kind: "too-long" });
  expect(await inThread(program("throw 1"), 0, { places, signal: never() })).toEqual({ kind: "failed" });
  const stop = new AbortController();
  const outcomes = [1, 2].map(() => inThread(FOREVER, 0, { places, signal: stop.signal }));
  stop.abort();
  expect(await Promise.all(outcomes)).toEqual([{ kind: "stopped" }, { kind: "stopped" }]);
});
