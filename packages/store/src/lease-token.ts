import { FencedError } from "./errors.ts";
import type { LeaseToken } from "./types/common.ts";

/** Returns the previous holder of a lease if the lease had expired without being released. */
export function getTakenFrom(
  before: { readonly holder: string } | undefined,
  holder: string,
): { readonly takenFrom?: string } {
  const isFree = before === undefined || before.holder === "" || before.holder === holder;
  return isFree ? {} : { takenFrom: before.holder };
}

export function isSameLease(one: LeaseToken | undefined, other: LeaseToken): boolean {
  return one?.name === other.name && one.epoch === other.epoch;
}

interface ClaimedRow {
  readonly state: string;
  readonly leaseName: string;
  readonly leaseEpoch: number;
}

/**
 * Does nothing if no lease is given.
 *
 * @throws FencedError if a waiting message is claimed by another lease than the given one
 */
export function checkWaitingHolder(row: ClaimedRow, lease: LeaseToken | undefined): void {
  const holder = { name: row.leaseName, epoch: row.leaseEpoch };
  if (lease === undefined || row.state !== "queued" || isSameLease(lease, holder)) return;
  const text = `The message waits under the lease "${holder.name}" of epoch ${holder.epoch}.`;
  throw new FencedError(lease.name, lease.epoch, text);
}
