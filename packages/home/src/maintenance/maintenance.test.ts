import { loadConfig } from "@signalbox/config";
import { openStore, type SqliteStore } from "@signalbox/store";
import { expect, it, onTestFinished, vi } from "vitest";
import { createHeldLeases } from "../held-leases.ts";
import { createLeaseTerm } from "../lease-term.ts";
import { createMaintenance, type Maintenance, type MaintenanceOptions } from "./maintenance.ts";
import { createMaintenanceLease } from "./maintenance-lease.ts";

const ignore = (): void => {};
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const { retention } = loadConfig({ file: "signalbox.yaml", text: "", env: {} }).config;

/** Maintenance of a store in memory, with nothing to do but what is given. */
async function openUpkeep(more: (store: SqliteStore) => Partial<MaintenanceOptions>): Promise<Maintenance> {
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  const lease = await store.leases.acquire("gateway", "test", 3_600_000);
  if (lease === undefined) throw new Error("no lease");
  return createMaintenance({
    store,
    lease,
    leaseMs: 3_600_000,
    leaseTerm: createLeaseTerm(3_600_000),
    retention: () => retention,
    now: Date.now,
    busy: () => false,
    logger: SILENT,
    oneOffs: { channel: "api", isOneOff: () => false },
    pruneMedia: async () => {},
    renewLeases: async () => {},
    duty: { isHeld: () => true, acquire: async () => {}, release: async () => {} },
    wakeOutbox: () => {},
    onLost: () => {},
    consolidate: async () => {},
    recover: async () => {},
    ...more(store),
  });
}

it("looks for abandoned work periodically, even after a failure, until it stops", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let looked = 0;
  let consolidated = 0;
  const upkeep = await openUpkeep(() => ({
    async consolidate() {
      consolidated += 1;
    },
    async recover() {
      looked += 1;
      if (looked === 1) throw new Error("the disk is full");
    },
  }));
  upkeep.start();
  await vi.advanceTimersByTimeAsync(90_000);
  expect(looked).toBe(3);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(consolidated).toBe(2);
  const before = looked;
  upkeep.rest();
  await vi.advanceTimersByTimeAsync(90_000);
  upkeep.stop();
  expect(looked).toBe(before);
});

it("removes unused attachments even if pruning the database fails", async () => {
  let removed = 0;
  const upkeep = await openUpkeep((store) => ({
    store: {
      ...store,
      maintenance: { ...store.maintenance, prune: () => Promise.reject(new Error("a table is damaged")) },
    },
    async pruneMedia() {
      removed += 1;
    },
  }));
  await expect(upkeep.prune()).rejects.toThrow("a table is damaged");
  expect(removed).toBe(1);
});

it("gives the maintenance to one gateway, and to another when that one ends", async () => {
  const time = { now: 1_000 };
  const { leases, close } = await openStore({ path: ":memory:", clock: () => time.now });
  onTestFinished(() => close());
  const gateway = (holder: string) => {
    const held = createHeldLeases({ leases, holder, leaseMs: 30_000 });
    return { held, duty: createMaintenanceLease(held) };
  };
  const [one, two] = [gateway("one"), gateway("two")];
  const look = async () => {
    for (const { held, duty } of [one, two]) {
      await held.renew();
      await duty.acquire();
    }
    return [one.duty.isHeld(), two.duty.isHeld()];
  };
  await one.duty.acquire();
  time.now += 20_000;
  expect(await look()).toEqual([true, false]);
  // The first gateway is stopped for longer than its lease.
  time.now += 30_000;
  await two.duty.acquire();
  expect(await look()).toEqual([false, true]);
  await two.duty.release();
  expect(await look()).toEqual([true, false]);
});

it("removes conversations with a single request only while it holds the maintenance", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let isHeld = false;
  let listed = 0;
  const upkeep = await openUpkeep((store) => ({
    duty: { isHeld: () => isHeld, acquire: async () => {}, release: async () => {} },
    store: {
      ...store,
      sessions: {
        ...store.sessions,
        list: async () => {
          listed += 1;
          return [];
        },
      },
    },
  }));
  upkeep.start();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(listed).toBe(0);
  isHeld = true;
  await vi.advanceTimersByTimeAsync(300_000);
  expect(listed).toBe(1);
  upkeep.rest();
  upkeep.stop();
});

it("extends the lease's term only when a renewal succeeds", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let time = 0;
  let isReachable = false;
  const clock = () => time;
  const leaseTerm = createLeaseTerm(3_000, { monotonic: clock, wall: clock });
  const upkeep = await openUpkeep(({ leases, ...store }) => ({
    leaseMs: 3_000,
    leaseTerm,
    store: {
      ...store,
      leases: {
        ...leases,
        async renew(held) {
          if (!isReachable) throw new Error("the database is unreachable");
          return leases.renew(held, 3_600_000);
        },
      },
    },
  }));
  upkeep.start();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(leaseTerm.getMsLeft()).toBe(0);
  isReachable = true;
  await vi.advanceTimersByTimeAsync(1_000);
  await expect.poll(() => leaseTerm.getMsLeft()).toBe(3_000);
  time = 2_000;
  expect(leaseTerm.getMsLeft()).toBe(1_000);
  upkeep.rest();
  upkeep.stop();
});

it("does not extend the lease's term before the other leases show that agents were taken over", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const leaseTerm = createLeaseTerm(3_000);
  const seen: number[] = [];
  const upkeep = await openUpkeep(() => ({
    leaseMs: 3_000,
    leaseTerm,
    async renewLeases() {
      await new Promise((resolve) => setTimeout(resolve, 50));
      seen.push(leaseTerm.getMsLeft());
      leaseTerm.end();
    },
  }));
  upkeep.start();
  await vi.advanceTimersByTimeAsync(1_000);
  await expect.poll(() => seen).toEqual([0]);
  expect(leaseTerm.getMsLeft()).toBe(0);
  upkeep.rest();
  upkeep.stop();
});
