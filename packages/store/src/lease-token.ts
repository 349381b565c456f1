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
