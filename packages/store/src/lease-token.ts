import type { LeaseToken } from "./types/common.ts";

export function isSameLease(one: LeaseToken | undefined, other: LeaseToken): boolean {
  return one?.name === other.name && one.epoch === other.epoch;
}
