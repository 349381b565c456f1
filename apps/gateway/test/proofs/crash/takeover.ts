import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getNodeId, locateHome } from "@signalbox/home";
import { type Lease, openStore, StoreError } from "@signalbox/store";
import type { GatewayBodies } from "../../../src/store.ts";
import { check } from "./check.ts";
import { openWorld, type WorldOptions } from "./world.ts";

/** Requests to the model before another process takes over. */
const SOME = 10;
/** How often it is looked whether the lease has run out, in milliseconds. */
const LOOK_MS = 20;

/**
 * Stops a gateway for longer than its lease in the middle of a run, lets another process take over, and lets the
 * gateway go on: it may write nothing more and must end. Gives a sentence for each promise that was broken.
 */
export async function runTakeover(options: WorldOptions): Promise<readonly string[]> {
  const world = await openWorld({ ...options, faults: false });
  const violations: string[] = [];
  try {
    const gateway = world.start();
    await gateway.listening;
    const modelAsked = async (times: number): Promise<void> => {
      const { length } = world.asked;
      while (world.asked.length < length + times) await sleep(1);
    };
    // In the middle of the conversations, a moment after the model was asked.
    await modelAsked(SOME);
    const name = `gateway ${getNodeId(locateHome(world.home, {}))}`;
    const other = await openStore<GatewayBodies>({ path: join(world.home, "signalbox.db") });
    const takeOver = async (): Promise<Lease> => {
      gateway.signal("SIGSTOP");
      try {
        for (;;) {
          const lease = await other.leases.acquire(name, "another machine", 60_000);
          if (lease !== undefined) return lease;
          await sleep(LOOK_MS);
        }
      } catch (error) {
        // Stopped in the middle of a commit it keeps everybody out, and has no lease to lose.
        if (!(error instanceof StoreError) || error.code !== "locked") throw error;
        gateway.signal("SIGCONT");
        await modelAsked(1);
        return takeOver();
      }
    };
    const lease = await takeOver();
    const taken = [];
    for (const { run } of await other.runs.interrupted())
      taken.push(await other.runs.adopt({ runId: run.id, lease }));
    if (taken.length === 0) violations.push("idle: no run was taken over");
    gateway.signal("SIGCONT");
    const exit = await Promise.race([gateway.exited, sleep(60_000, undefined, { ref: false })]);
    if (exit?.code !== 1 || !gateway.said().includes("signalbox: Stopped: "))
      violations.push(`fence: without its lease the gateway ended with ${JSON.stringify(exit)}`);
    for (const run of taken) {
      const now = run && (await other.runs.get(run.id));
      if (now?.state !== "running" || now.lease.epoch !== lease.epoch)
        violations.push(`fence: the run ${run?.id} was written to without the lease: it is ${now?.state}`);
    }
    gateway.signal("SIGKILL");
    await gateway.exited;
    await other.leases.release(lease);
    await other.close();
    await world.settle(world.start());
    return [...violations, ...(await check(world)).violations];
  } finally {
    await world.close();
  }
}
