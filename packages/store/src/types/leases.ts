import type { LeaseToken, Millis } from "./common.ts";

/** The right to write under a name until it expires. A {@link LeaseToken}. */
export interface Lease extends LeaseToken {
  readonly holder: string;
  readonly expiresAt: Millis;
}

/**
 * Named leases. The epoch of a name rises with every change of holder and never falls, so that late writes of a holder
 * that lost its lease without noticing (a suspended process, a clock jump) are recognized and rejected. An expired
 * lease that no one took still allows writes and can be renewed: rejecting it would only lose work that no other
 * process has begun.
 */
export interface LeaseStore {
  /**
   * Acquires a name that is free, expired, or held by the same `holder`. Returns undefined while another holder has it.
   * Acquiring a name again gives a new epoch: late writes of the holder's earlier process are rejected.
   */
  acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>;
  /** Renews leases in one transaction. The result omits lost ones. */
  renew(leases: readonly LeaseToken[], ttlMs: number): Promise<readonly Lease[]>;
  /** Releases a lease. Does nothing if it is lost already. */
  release(lease: LeaseToken): Promise<void>;
  /** Returns leases that were not released, including expired ones, sorted by name. */
  list(): Promise<readonly Lease[]>;
}
