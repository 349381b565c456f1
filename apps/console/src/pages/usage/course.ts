import type { UsageGroup } from "@signalbox/client";
import type { Measure } from "./search.ts";

/** A figure over time, split by name. */
export interface Course {
  /** Keys of the series, largest first. */
  readonly names: readonly string[];
  /** Names for display by key. */
  readonly labels: ReadonlyMap<string, string>;
  /** Oldest first, without gaps. */
  readonly days: readonly { readonly day: string; readonly values: Readonly<Record<string, number>> }[];
}

/** Usage of one group on one day. */
export interface DayUsage {
  /** The day (UTC, `2026-11-21`). */
  readonly day: string;
  /** The group. Empty if there is none. */
  readonly name: string;
  readonly usage: Pick<UsageGroup, "runs" | "inputTokens" | "outputTokens" | "costMicros">;
}

/** Series after the largest ones are added up under this key. */
export const OTHERS = "others";

/** Maximum number of series, including the one that adds up the others. */
const MAX_SERIES = 7;

const DAY_MS = 86_400_000;

/** Maximum number of days without usage that are filled in before the first day. */
const MAX_DAYS = 400;

/** Maximum length of a name in the legend. */
const MAX_LABEL_LENGTH = 32;

function shorten(name: string): string {
  return name.length <= MAX_LABEL_LENGTH ? name : `${name.slice(0, MAX_LABEL_LENGTH - 1)}…`;
}

/** Returns the figure that is measured. Costs are in millionths of a US dollar. */
function measureOf({ usage }: Pick<DayUsage, "usage">, measure: Measure): number {
  switch (measure) {
    case "cost":
      return usage.costMicros;
    case "tokens":
      return usage.inputTokens + usage.outputTokens;
    case "runs":
      return usage.runs;
  }
}

/**
 * Arranges usage by day and name. Adds the days without usage, and adds up the smallest series.
 *
 * @param days number of days until today; `all` starts with the first day with usage
 */
export function toCourse(
  points: readonly DayUsage[],
  measure: Measure,
  days: number | "all",
  now: number,
): Course {
  const valid = points.filter(({ day }) => !Number.isNaN(Date.parse(day)));
  const totals = new Map<string, number>();
  for (const point of valid)
    totals.set(point.name, (totals.get(point.name) ?? 0) + measureOf(point, measure));
  const sorted = [...totals].toSorted(([, a], [, b]) => b - a).map(([name]) => name);
  const kept = sorted.length > MAX_SERIES ? sorted.slice(0, MAX_SERIES - 1) : sorted;
  const keys = new Map(kept.map((name, place) => [name, `series ${place}`]));
  const hasOthers = kept.length < sorted.length;

  const values = new Map<string, Record<string, number>>();
  for (const point of valid) {
    const key = keys.get(point.name) ?? OTHERS;
    const ofDay = values.get(point.day) ?? {};
    ofDay[key] = (ofDay[key] ?? 0) + measureOf(point, measure);
    values.set(point.day, ofDay);
  }
  const first = valid.reduce((earliest, { day }) => Math.min(earliest, Date.parse(day)), now);
  const from = days === "all" ? Math.max(first, now - MAX_DAYS * DAY_MS) : now - (days - 1) * DAY_MS;
  const course: { day: string; values: Record<string, number> }[] = [];
  for (let at = Math.floor(from / DAY_MS) * DAY_MS; at <= now; at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10);
    course.push({ day, values: values.get(day) ?? {} });
  }
  return {
    names: [...keys.values(), ...(hasOthers ? [OTHERS] : [])],
    labels: new Map([...keys].map(([name, key]) => [key, shorten(name)])),
    days: course,
  };
}
