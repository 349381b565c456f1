import type { HeldLease, HeldLeases } from "../held-leases.ts";

/**
 * The lease of the gateway that does the work that concerns the whole store: pruning it, and notifying owners. If the
 * gateway ends, another one takes the lease.
 */
export interface MaintenanceLease {
  isHeld(): boolean;
  /** Acquires the lease unless another gateway holds it. */
  acquire(): Promise<void>;
  release(): Promise<void>;
}

export function createMaintenanceLease(held: Pick<HeldLeases, "acquire">): MaintenanceLease {
  let lease: HeldLease | undefined;
  const isHeld = (): boolean => lease !== undefined && !lease.lost.aborted;
  return {
    isHeld,
    async acquire() {
      if (!isHeld()) lease = await held.acquire("maintenance");
    },
    async release() {
      const before = lease;
      lease = undefined;
      await before?.release();
    },
  };
}
