import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createPruneSchedule, openStore } from "../src/index.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function open(busy: () => boolean = () => false, isDue?: () => boolean) {
  const store = await openStore({ path: ":memory:", limits: { commitSpacingMs: 0 } });
  onTestFinished(() => store.close());
  let pruned = 0;
  const life = () =>
    createPruneSchedule({
      kv: store.kv,
      busy,
      ...(isDue && { isDue }),
      now: Date.now,
      random: () => 0.5,
      prune() {
        pruned += 1;
        return store.maintenance.prune();
      },
      onFailure: (error) => expect.unreachable(String(error)),
    });
  /** Moves the clock, and lets the store do what that begins. */
  const pass = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    for (let turn = 0; turn < 2_000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return { store, life, pass, pruned: () => pruned };
}

describe("createPruneSchedule", () => {
  it("leaves pruning to another process while that one does it", async () => {
    let isDue = false;
    const { life, pass, pruned } = await open(undefined, () => isDue);
    await life().start();
    await pass(5 * HOUR);
    expect(pruned()).toBe(0);
    isDue = true;
    await pass(HOUR);
    expect(pruned()).toBe(1);
  });

  it("prunes some minutes after the first start, then every hour", async () => {
    const { life, pass, pruned } = await open();
    await life().start();
    await pass(MINUTE);
    expect(pruned()).toBe(0);
    await pass(2 * MINUTE);
    expect(pruned()).toBe(1);
    await pass(HOUR);
    expect(pruned()).toBe(2);
  });

  it("prunes once an hour if no process lives that long", async () => {
    const { life, pass, pruned } = await open();
    for (let lived = 0; lived < 36; lived += 1) {
      const one = life();
      await one.start();
      await pass(10 * MINUTE);
      one.stop();
    }
    // Six hours.
    expect(pruned()).toBeGreaterThanOrEqual(5);
    expect(pruned()).toBeLessThanOrEqual(6);
  });

  it("prunes at once after a day without pruning, whatever the clock did", async () => {
    const { store, life, pass, pruned } = await open();
    await store.kv.set("maintenance", "pruned", Date.now() - 2 * DAY);
    const overdue = life();
    await overdue.start();
    await pass(10_000);
    expect(pruned()).toBe(1);
    overdue.stop();
    await store.kv.set("maintenance", "pruned", Date.now() + 30 * DAY);
    await life().start();
    await pass(10_000);
    expect(pruned()).toBe(2);
  });

  it("waits while the gateway is busy, but not forever", async () => {
    let busy = true;
    const { life, pass, pruned } = await open(() => busy);
    await life().start();
    await pass(4 * MINUTE);
    expect(pruned()).toBe(0);
    busy = false;
    await pass(MINUTE);
    expect(pruned()).toBe(1);
    busy = true;
    await pass(HOUR + 4 * MINUTE);
    expect(pruned()).toBe(1);
    await pass(2 * MINUTE);
    expect(pruned()).toBe(2);
  });
});
