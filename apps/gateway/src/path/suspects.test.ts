import { expect, it } from "vitest";
import { createSuspects } from "./suspects.ts";

const free = new AbortController().signal;

it("lets one go on at a time, in order", async () => {
  const suspects = createSuspects(60_000);
  const first = Promise.withResolvers<void>();
  const log: string[] = [];
  const one = suspects.alone(free, async () => {
    log.push("one");
    await first.promise;
    log.push("one is done");
  });
  const two = suspects.alone(free, async () => void log.push("two"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(log).toEqual(["one"]);
  first.resolve();
  await Promise.all([one, two]);
  expect(log).toEqual(["one", "one is done", "two"]);
});

it("goes on after one that failed, and beside one that takes too long", async () => {
  const suspects = createSuspects(1);
  const failed = suspects.alone(free, async () => {
    throw new Error("no");
  });
  const endless = suspects.alone(free, () => new Promise(() => {}));
  await expect(failed).rejects.toThrow("no");
  await suspects.alone(free, async () => {});
  void endless;
});

it("leaves one alone that is stopped while it waits", async () => {
  const suspects = createSuspects(60_000);
  void suspects.alone(free, () => new Promise(() => {}));
  const stop = new AbortController();
  let worked = false;
  const waiting = suspects.alone(stop.signal, async () => {
    worked = true;
  });
  stop.abort();
  await waiting;
  expect(worked).toBe(false);
});
