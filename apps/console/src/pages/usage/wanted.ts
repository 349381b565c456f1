import type { UsageBy, UsageQuery } from "@signalbox/client";

/** What usage can be summed up by. */
export const BYS = ["day", "agent", "session", "sender"] as const satisfies readonly UsageBy[];

/** How many of the last days can be looked at. */
export const SPANS = [7, 30, 90, 365] as const;

/** What the address asks for, whoever wrote it: what it gets wrong is as if it were not there. */
export function wantedUsage({ by, days }: Record<string, unknown>): UsageQuery {
  const known = BYS.find((each) => each === by) ?? "day";
  const span = SPANS.find((each) => each === days);
  return span === undefined ? { by: known } : { by: known, days: span };
}
