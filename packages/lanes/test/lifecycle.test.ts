import { describe, expect, it } from "vitest";
import { createLifecycle, retry, withTimeout } from "../src/index.ts";
import { createManualClock } from "../src/testkit/index.ts";

it("stops parts in reverse order before one deadline, even if one fails", async () => {
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

it("reports and abandons a part that does not stop 20 seconds after the deadline", async () => {
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
  expect(log).toEqual(["hangs: Error: did not stop in time", "store"]);
  expect(clock.pending()).toBe(0);
});

it("withTimeout stops waiting after its time limit", async () => {
  const clock = createManualClock();
  let over = false;
  const waited = withTimeout(1_000, new Promise(() => {}), clock).then(() => {
    over = true;
  });
  await clock.advance(999);
  expect(over).toBe(false);
  await clock.advance(1);
  await waited;
  await withTimeout(1_000, Promise.resolve(), clock);
  expect(clock.pending()).toBe(0);
});

describe("retry", () => {
  const failing = (times: number) => {
    let tries = 0;
    return async () => {
      tries += 1;
      if (tries <= times) throw new Error(`failed ${tries}`);
      return tries;
    };
  };

  it("tries again after a failure", async () => {
    const clock = createManualClock();
    const done = retry(failing(2), clock);
    await clock.advance(200);
    expect(await done).toBe(3);
  });

  it("throws the error of the third attempt", async () => {
    const clock = createManualClock();
    const done = expect(retry(failing(9), clock)).rejects.toThrow("failed 3");
    await clock.advance(200);
    await done;
  });
});
