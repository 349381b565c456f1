import { retry } from "@signalbox/lanes";
import { accountLease, type Lease, type LeaseStore } from "@signalbox/store";

export interface AccountLeasesOptions {
  readonly leases: Pick<LeaseStore, "acquire" | "renew" | "release">;
  /** The same over restarts, so that a crash leaves nothing to wait for. */
  readonly holder: string;
  readonly leaseMs: number;
  /** Whether only one gateway may run an account of this channel: not so one that every gateway has for itself. */
  readonly isShared: (channel: string) => boolean;
}

/** The right to run an account. */
export interface AccountRight {
  /** Fires when another gateway has it. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** The leases of the accounts that this gateway runs. Of several gateways on one store, one runs each account. */
export interface AccountLeases {
  /** Undefined while another gateway runs the account. */
  right(channel: string, account: string): Promise<AccountRight | undefined>;
  /** Prolongs all of them, and lets those know that were lost. */
  renew(): Promise<void>;
}

interface Held {
  readonly lease: Lease;
  readonly lost: AbortController;
}

export function createAccountLeases(options: AccountLeasesOptions): AccountLeases {
  const { leases, holder, leaseMs, isShared } = options;
  const held = new Map<string, Held>();

  /** Another start of the account may have it by now. */
  const forget = ({ name, epoch }: Lease): void => {
    if (held.get(name)?.lease.epoch === epoch) held.delete(name);
  };

  const keep = (lease: Lease): AccountRight => {
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
    async right(channel, account) {
      if (!isShared(channel)) return UNSHARED;
      const lease = await retry(() => leases.acquire(accountLease({ channel, account }), holder, leaseMs));
      return lease && keep(lease);
    },
    async renew() {
      const asked = [...held.values()];
      if (asked.length === 0) return;
      const kept = await leases.renew(
        asked.map(({ lease }) => lease),
        leaseMs,
      );
      for (const { lease, lost } of asked) {
        if (kept.some(({ name, epoch }) => name === lease.name && epoch === lease.epoch)) continue;
        forget(lease);
        lost.abort(new Error("another gateway is running this account"));
      }
    },
  };
}

const UNSHARED: AccountRight = { lost: new AbortController().signal, release: async () => {} };
