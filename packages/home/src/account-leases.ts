import { retry } from "@signalbox/lanes";
import { accountLease, type Lease, type LeaseStore } from "@signalbox/store";

export interface AccountLeasesOptions {
  readonly leases: Pick<LeaseStore, "acquire" | "renew" | "release">;
  /** Stays the same across restarts, so that the lease can be acquired immediately after a crash. */
  readonly holder: string;
  readonly leaseMs: number;
  /**
   * Returns true if only one gateway at a time may run an account of this channel. False for channels that every
   * gateway has for itself, such as its web page.
   */
  readonly isShared: (channel: string) => boolean;
}

/** The lease of an account that runs here. */
export interface AccountLease {
  /** Aborted when another gateway has taken the lease. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** Leases of the accounts that this gateway runs. If several gateways share a store, one of them runs each account. */
export interface AccountLeases {
  /** Acquires the lease of an account. Returns undefined while another gateway runs the account. */
  acquire(channel: string, account: string): Promise<AccountLease | undefined>;
  /** Renews all leases and aborts the `lost` signals of those that were lost. */
  renew(): Promise<void>;
}

interface HeldLease {
  readonly lease: Lease;
  readonly lost: AbortController;
}

export function createAccountLeases(options: AccountLeasesOptions): AccountLeases {
  const { leases, holder, leaseMs, isShared } = options;
  const held = new Map<string, HeldLease>();

  /** The account may have been restarted under a later epoch. */
  const forget = ({ name, epoch }: Lease): void => {
    if (held.get(name)?.lease.epoch === epoch) held.delete(name);
  };

  const hold = (lease: Lease): AccountLease => {
    const lost = new AbortController();
    held.set(lease.name, { lease, lost });
    return {
      lost: lost.signal,
      async release() {
        forget(lease);
        await leases.release(lease);
      },
    };
  };

  return {
    async acquire(channel, account) {
      if (!isShared(channel)) return UNSHARED;
      const lease = await retry(() => leases.acquire(accountLease({ channel, account }), holder, leaseMs));
      return lease && hold(lease);
    },
    async renew() {
      const current = [...held.values()];
      if (current.length === 0) return;
      const renewed = await leases.renew(
        current.map(({ lease }) => lease),
        leaseMs,
      );
      for (const { lease, lost } of current) {
        if (renewed.some(({ name, epoch }) => name === lease.name && epoch === lease.epoch)) continue;
        forget(lease);
        lost.abort(new Error("another gateway is running this account"));
      }
    },
  };
}

const UNSHARED: AccountLease = { lost: new AbortController().signal, release: async () => {} };
