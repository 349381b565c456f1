import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Lease, openStore, StoreError } from "@signalbox/store";
import { expect, it } from "vitest";
import type { GatewayBodies } from "../../src/path/stored.ts";
import { check } from "./check.ts";
import { seeded } from "./random.ts";
import { LEASE_MS, openWorld } from "./world.ts";

it("writes nothing more to runs once another process has taken its lease while it was stopped, and ends", {
  timeout: 120_000,
}, async () => {
  const world = await openWorld({ random: seeded(5), sessions: 6, mode: "followup", faults: false });
  try {
    const gateway = world.start();
    await gateway.listening;
    await sleep(900);
    // In the middle of a run: the model was asked a moment ago.
    const { length } = world.asked;
    while (world.asked.length === length) await sleep(1);
    const other = await openStore<GatewayBodies>({ path: join(world.home, "signalbox.db") });
    const takeOver = async (): Promise<Lease | undefined> => {
      gateway.signal("SIGSTOP");
      await sleep(LEASE_MS + 400);
      try {
        return await other.leases.acquire("gateway", "another machine", 60_000);
      } catch (error) {
        // Stopped in the middle of a commit it keeps everybody out, and has no lease to lose.
        if (!(error instanceof StoreError) || error.code !== "locked") throw error;
        gateway.signal("SIGCONT");
        await sleep(LEASE_MS);
        return takeOver();
      }
    };
    const lease = await takeOver();
    if (lease === undefined) throw new Error("the lease of a stopped process did not run out");
    const taken = [];
    for (const { run } of await other.runs.interrupted())
      taken.push(await other.runs.adopt({ runId: run.id, lease }));
    expect(taken.length).toBeGreaterThan(0);
    gateway.signal("SIGCONT");
    const { code } = await gateway.exited;
    expect([code, gateway.said()]).toEqual([1, expect.stringContaining("signalbox: Stopped: ")]);
    for (const run of taken) {
      const now = run && (await other.runs.get(run.id));
      expect(now).toMatchObject({ state: "running", lease: { epoch: lease.epoch } });
    }
    await other.leases.release(lease);
    await other.close();

    await world.settle(world.start());
    const verdict = await check(world);
    expect(verdict.violations).toEqual([]);
  } finally {
    await world.close();
  }
});
