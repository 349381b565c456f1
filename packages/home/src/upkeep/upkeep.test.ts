import { loadConfig } from "@signalbox/config";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished, vi } from "vitest";
import { createUpkeep } from "./upkeep.ts";

const ignore = (): void => {};
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const { retention } = loadConfig({ file: "signalbox.yaml", text: "", env: {} }).config;

it("looks from time to time for work that nobody does, also after it could not, until the gateway stops", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  const lease = await store.leases.acquire("gateway", "test", 3_600_000);
  if (lease === undefined) throw new Error("no lease");
  let looked = 0;
  let consolidated = 0;
  const upkeep = createUpkeep({
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
    async consolidate() {
      consolidated += 1;
    },
    async recover() {
      looked += 1;
      if (looked === 1) throw new Error("the disk is full");
    },
  });
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
