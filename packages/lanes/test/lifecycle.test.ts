import { describe, expect, it } from "vitest";
import { atMost, createLifecycle, tryAgain } from "../src/index.ts";
import { createManualClock } from "../src/testkit/index.ts";

it("stops what was started in the opposite order, over what fails, before one deadline", async () => {
  let time = 0;
  const log: string[] = [];
  const lifecycle = createLifecycle(
    (name) => log.push(`${name} failed`),
    () => time,
  );
  lifecycle.started("store", (left) => log.push(`store ${left()}`));
  lifecycle.started("accounts", () => {
    throw new Error("no");
  });
  lifecycle.started("lanes", async (left) => {
    log.push(`lanes ${left()}`);
    time += 70;
  });
  await Promise.all([lifecycle.stop(100), lifecycle.stop(5_000)]);
  expect(log).toEqual(["lanes 100", "accounts failed", "store 30"]);
});

it("leaves what does not stop, a while behind the deadline", async () => {
  const clock = createManualClock();
  const log: string[] = [];
  const lifecycle = createLifecycle((name, error) => log.push(`${name}: ${error}`), clock.now, clock);
  lifecycle.started("store", () => log.push("store"));
  lifecycle.started("hangs", () => new Promise(() => {}));
  const stopped = lifecycle.stop(100);
  await clock.advance(100);
  expect(log).toEqual([]);
  await clock.advance(60_000);
  await stopped;
  expect(log).toEqual(["hangs: Error: it has not stopped in time", "store"]);
  expect(clock.pending()).toBe(0);
});

it("waits for work no longer than it is told to", async () => {
  const clock = createManualClock();
  let over = false;
  const waited = atMost(1_000, new Promise(() => {}), clock).then(() => {
    over = true;
  });
  await clock.advance(999);
  expect(over).toBe(false);
  await clock.advance(1);
  await waited;
  await atMost(1_000, Promise.resolve(), clock);
  expect(clock.pending()).toBe(0);
});

describe("what a start has to do", () => {
  const failing = (times: number) => {
    let tries = 0;
    return async () => {
      tries += 1;
      if (tries <= times) throw new Error(`failed ${tries}`);
      return tries;
    };
  };

  it("is tried again where it failed for a moment", async () => {
    const clock = createManualClock();
    const done = tryAgain(failing(2), clock);
    await clock.advance(200);
    expect(await done).toBe(3);
  });

  it("fails with what the last try throws", async () => {
    const clock = createManualClock();
    const done = expect(tryAgain(failing(9), clock)).rejects.toThrow("failed 3");
    await clock.advance(200);
    await done;
  });
});
