import { loadConfig } from "@signalbox/config";
import { openStore, type SqliteStore } from "@signalbox/store";
import { expect, it, onTestFinished, vi } from "vitest";
import { createMaintenance, type Maintenance, type MaintenanceOptions } from "./maintenance.ts";

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
    retention: () => retention,
    now: Date.now,
    busy: () => false,
    logger: SILENT,
    oneOffs: { channel: "api", isOneOff: () => false },
    pruneMedia: async () => {},
    renewAccounts: async () => {},
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
