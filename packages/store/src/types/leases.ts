import type { LeaseToken, Millis } from "./common.ts";

/** The right to write in a name, until it runs out. A {@link LeaseToken}. */
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
   * Takes a name that is free, has run out, or is held by the same `holder`. `undefined` while another holds it.
   * A holder that acquires again gets a new epoch: what its earlier life still writes is refused.
   */
  acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>;
  /** Prolongs many in one transaction. The ones that were lost are left out of the answer. */
  renew(leases: readonly LeaseToken[], ttlMs: number): Promise<readonly Lease[]>;
  /** Gives a name back; a lease that was lost already is left alone. */
  release(lease: LeaseToken): Promise<void>;
  /** Leases that were not released, expired ones included; by name. */
  list(): Promise<readonly Lease[]>;
}
