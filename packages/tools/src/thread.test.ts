import { afterEach, expect, test, vi } from "vitest";
import { createSemaphore } from "./semaphore.ts";
import { runInThread } from "./thread.ts";
import type { Role } from "./types.ts";

const program = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);
const ECHO = program(
  'import { parentPort, workerData } from "node:worker_threads"; parentPort.postMessage(workerData)',
);
const FOREVER = program("for (;;);");
const never = () => new AbortController().signal;

afterEach(() => {
  vi.useRealTimers();
});

test("the time limit of a thread starts with the thread, not with the wait", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const places = createSemaphore(1);
  const leave = await places.acquire(never());
  const outcome = runInThread(ECHO, "work", { places, signal: never(), timeoutMs: 10_000 });
  await vi.advanceTimersByTimeAsync(60_000);
  leave();
  expect(await outcome).toEqual({ kind: "done", value: "work" });
});

test("reports whether a thread timed out, was stopped or failed", async () => {
  const places = createSemaphore(1);
  expect(await runInThread(FOREVER, 0, { places, signal: never(), timeoutMs: 1 })).toEqual({
    kind: "timeout",
  });
  expect(await runInThread(program("throw 1"), 0, { places, signal: never() })).toEqual({ kind: "failed" });
  const stop = new AbortController();
  const outcomes = [1, 2].map(() => runInThread(FOREVER, 0, { places, signal: stop.signal }));
  stop.abort();
  expect(await Promise.all(outcomes)).toEqual([{ kind: "stopped" }, { kind: "stopped" }]);
});

test("an owner's work starts before that of others, and otherwise in order", async () => {
  const places = createSemaphore(1);
  const leave = await places.acquire(never());
  const started: string[] = [];
  const work = (name: string, role: Role, signal = never()): Promise<unknown> =>
    runInThread(ECHO, name, { places, signal, role }).then(({ kind }) => started.push(`${name} ${kind}`));
  const stop = new AbortController();
  const all = [
    work("member 1", "member"),
    work("guest", "guest"),
    work("stopped", "owner", stop.signal),
    work("owner 1", "owner"),
    work("member 2", "member"),
    work("owner 2", "owner"),
  ];
  stop.abort();
  leave();
  await Promise.all(all);
  expect(started).toEqual([
    "stopped stopped",
    "owner 1 done",
    "owner 2 done",
    "member 1 done",
    "guest done",
    "member 2 done",
  ]);
});
