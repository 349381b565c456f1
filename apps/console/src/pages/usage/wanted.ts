import type { UsageBy, UsageQuery } from "@signalbox/client";

/** Groupings of usage. */
export const BYS = ["day", "agent", "session", "sender"] as const satisfies readonly UsageBy[];

/** Selectable periods in days. */
export const SPANS = [7, 30, 90, 365] as const;

/** Validates the search parameters of the URL. Invalid parameters are ignored. */
export function wantedUsage({ by, days }: Record<string, unknown>): UsageQuery {
  const known = BYS.find((each) => each === by) ?? "day";
  const span = SPANS.find((each) => each === days);
  return span === undefined ? { by: known } : { by: known, days: span };
}
