import type { UsageBy } from "@signalbox/client";

/** Groupings of usage. */
export const BYS = [
  "day",
  "model",
  "agent",
  "channel",
  "sender",
  "session",
] as const satisfies readonly UsageBy[];

/** Selectable periods in days. */
export const SPANS = [7, 30, 90, 365] as const;

/** Figures of the chart. */
export const MEASURES = ["cost", "tokens", "runs"] as const;
export type Measure = (typeof MEASURES)[number];

/** Search parameters of the page. */
export interface UsageSearch {
  measure: Measure;
  by: (typeof BYS)[number];
  days: (typeof SPANS)[number] | "all";
}

/** Validates the search parameters of the URL. Invalid parameters are replaced by the defaults. */
export function readUsageSearch({ by, days, measure }: Record<string, unknown>): UsageSearch {
  return {
    measure: MEASURES.find((each) => each === measure) ?? "cost",
    by: BYS.find((each) => each === by) ?? "day",
    days: days === "all" ? days : (SPANS.find((each) => each === days) ?? 30),
  };
}
