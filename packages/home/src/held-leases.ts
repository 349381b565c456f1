import { retry } from "@signalbox/lanes";
import type { Lease, LeaseStore } from "@signalbox/store";

/** A lease that this gateway holds, in addition to the one under which it writes. */
export interface HeldLease {
  /** Aborted when another gateway has taken the lease. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** The leases that decide which of several gateways does something, for example which one runs an account. */
export interface HeldLeases {
  /** Acquires a lease. Returns undefined while another gateway holds it. */
  acquire(name: string): Promise<HeldLease | undefined>;
  /** Renews all leases and aborts the `lost` signals of those that were lost. */
  renew(): Promise<void>;
  /**
   * Returns true for the duration of a lease after this process could not renew its leases in time. The other processes
   * may have had the same outage, for example a restart of the database, so that nothing may be taken from them yet.
   */
  isRecovering(): boolean;
}

export interface HeldLeasesOptions {
  readonly leases: Pick<LeaseStore, "acquire" | "renew" | "release">;
  /** Stays the same across restarts, so that the leases can be acquired immediately after a crash. */
  readonly holder: string;
  readonly leaseMs: number;
  /** Called when this process has acquired a lease that another holder did not renew in time. */
  readonly onTakeover?: (name: string, from: string) => void;
  /** Milliseconds since the epoch. Default: `Date.now` */
  readonly now?: () => number;
}

export function createHeldLeases({
  leases,
  holder,
  leaseMs,
  onTakeover,
  now = Date.now,
}: HeldLeasesOptions): HeldLeases {
  let renewedAt = now();
  let recoveringUntil = Number.NEGATIVE_INFINITY;
  const held = new Map<string, { readonly lease: Lease; readonly lost: AbortController }>();

  /** The lease may have been acquired again under a later epoch. */
  const forget = ({ name, epoch }: Lease): void => {
    if (held.get(name)?.lease.epoch === epoch) held.delete(name);
  };

  return {
    async acquire(name) {
      const lease = await retry(() => leases.acquire(name, holder, leaseMs));
      if (lease === undefined) return undefined;
      if (lease.takenFrom !== undefined) onTakeover?.(name, lease.takenFrom);
      const lost = new AbortController();
      held.set(name, { lease, lost });
      return {
        lost: lost.signal,
        async release() {
          forget(lease);
          await leases.release(lease);
        },
      };
    },
    async renew() {
      const current = [...held.values()];
      const renewed = await leases.renew(
        current.map(({ lease }) => lease),
        leaseMs,
      );
      if (now() - renewedAt > leaseMs) recoveringUntil = now() + leaseMs;
      renewedAt = now();
      for (const { lease, lost } of current) {
        if (renewed.some(({ name, epoch }) => name === lease.name && epoch === lease.epoch)) continue;
        forget(lease);
        lost.abort(new Error(`another gateway holds the lease "${lease.name}"`));
      }
    },
    isRecovering: () => now() - renewedAt > leaseMs || now() < recoveringUntil,
  };
}
