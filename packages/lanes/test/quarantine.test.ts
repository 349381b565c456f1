import { expect, it } from "vitest";
import { createQuarantine } from "../src/index.ts";
import { createManualClock } from "../src/testkit/index.ts";
import { settle } from "./harness.ts";

const free = new AbortController().signal;
const endless = (): Promise<never> => new Promise(() => {});

it("lets one go on at a time, in order", async () => {
  const quarantine = createQuarantine({ aloneMs: 60_000 });
  const first = Promise.withResolvers<void>();
  const log: string[] = [];
  const one = quarantine.run(free, async () => {
    log.push("one");
    await first.promise;
    log.push("one is done");
  });
  const two = quarantine.run(free, async () => void log.push("two"));
  await settle();
  expect(log).toEqual(["one"]);
  first.resolve();
  await Promise.all([one, two]);
  expect(log).toEqual(["one", "one is done", "two"]);
});

it("goes on after one that failed, and beside one that takes too long", async () => {
  const clock = createManualClock();
  const quarantine = createQuarantine({ aloneMs: 1_000, clock });
  const failed = quarantine.run(free, async () => {
    throw new Error("no");
  });
  await expect(failed).rejects.toThrow("no");
  void quarantine.run(free, endless);
  let beside = false;
  const next = quarantine.run(free, async () => {
    beside = true;
  });
  await clock.advance(999);
  expect(beside).toBe(false);
  await clock.advance(1);
  await next;
  expect(beside).toBe(true);
});

it("does not begin one that is stopped while it waits", async () => {
  const quarantine = createQuarantine({ aloneMs: 60_000 });
  void quarantine.run(free, endless);
  const stop = new AbortController();
  let worked = false;
  const waiting = quarantine.run(stop.signal, async () => {
    worked = true;
  });
  stop.abort();
  await waiting;
  expect(worked).toBe(false);
});
