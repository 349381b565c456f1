import type { LeaseToken, Millis } from "./common.ts";

/** The right to write under a name, until it expires. A {@link LeaseToken}. */
export interface Lease extends LeaseToken {
  readonly holder: string;
  readonly expiresAt: Millis;
}

/**
 * Named leases. The epoch of a name rises with every change of holder and never falls, so that writes of a holder that
 * lost the name without noticing (it was stopped, its clock jumped) are recognised and refused. An expired lease that
 * no one took since can still write and be renewed: refusing would only lose work that no one else has begun.
 */
export interface LeaseStore {
  /**
   * Takes a name that is free, has expired, or is held by the same `holder`. `undefined` while another holds it. A
   * holder that acquires again gets a new epoch: later writes of its earlier process are refused.
   */
  acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>;
  /** Renews many in one transaction. Lost ones are missing from the result. */
  renew(leases: readonly LeaseToken[], ttlMs: number): Promise<readonly Lease[]>;
  /** Releases a name; a lease that is already lost is left alone. */
  release(lease: LeaseToken): Promise<void>;
  /** Leases that were not released, expired ones included; by name. */
  list(): Promise<readonly Lease[]>;
}
