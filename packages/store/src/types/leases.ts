import type { LeaseToken, Millis } from "./common.ts";

/** The right to write under a name until it expires. It is also a {@link LeaseToken}. */
export interface Lease extends LeaseToken {
  readonly holder: string;
  readonly acquiredAt: Millis;
  readonly expiresAt: Millis;
}

/** A lease that was acquired. */
export interface AcquiredLease extends Lease {
  /** The previous holder, if its lease had expired without being released. */
  readonly takenFrom?: string;
}

/** A lease as the store knows it now. */
interface ListedLease extends Lease {
  /** True if another holder can acquire the lease, by the clock of the store. Clocks of processes may be wrong. */
  readonly isExpired: boolean;
}

/**
 * Stores named leases. The epoch of a name increases with every change of the holder and never decreases. If a holder
 * lost its lease without noticing (a suspended process, a clock jump), its late writes are recognized and rejected. A
 * lease that has expired but that nobody took still allows writes and can be renewed: rejecting them would only lose
 * work that no other process has begun.
 */
export interface LeaseStore {
  /**
   * Acquires a name that is free, has expired, or is held by the same `holder`. Returns undefined if another holder has
   * it. Acquiring a name again starts a new epoch, so late writes from the holder's previous process are rejected.
   */
  acquire(name: string, holder: string, ttlMs: number): Promise<AcquiredLease | undefined>;
  /** Renews leases in one transaction. The result omits lost leases. */
  renew(leases: readonly LeaseToken[], ttlMs: number): Promise<readonly Lease[]>;
  /** Releases a lease. Does nothing if the lease is already lost. */
  release(lease: LeaseToken): Promise<void>;
  /** Returns all leases that were not released, including expired ones, sorted by name. */
  list(): Promise<readonly ListedLease[]>;
}
