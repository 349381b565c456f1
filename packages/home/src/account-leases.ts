import { accountLease } from "@signalbox/store";
import type { HeldLease, HeldLeases } from "./held-leases.ts";

export interface AccountLeasesOptions {
  readonly held: Pick<HeldLeases, "acquire">;
  /**
   * Returns true if only one gateway at a time may run an account of this channel. False for channels that every
   * gateway has for itself, such as its web page.
   */
  readonly isShared: (channel: string) => boolean;
}

/** Leases of the accounts that this gateway runs. If several gateways share a store, one of them runs each account. */
export interface AccountLeases {
  /** Acquires the lease of an account. Returns undefined while another gateway runs the account. */
  acquire(channel: string, account: string): Promise<HeldLease | undefined>;
}

export function createAccountLeases({ held, isShared }: AccountLeasesOptions): AccountLeases {
  return {
    async acquire(channel, account) {
      return isShared(channel) ? held.acquire(accountLease({ channel, account })) : UNSHARED;
    },
  };
}

const UNSHARED: HeldLease = { lost: new AbortController().signal, release: async () => {} };
