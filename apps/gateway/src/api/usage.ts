import {
  type Budget,
  describeBudget,
  getAllRemainingBudgets,
  getBudgetFacts,
  getPeriod,
} from "@signalbox/budgets";
import type {
  BudgetBalance,
  Usage,
  UsageGroup,
  UsageQuery,
  UsageSeries,
  UsageSeriesQuery,
} from "@signalbox/protocol";
import { parseSessionKey } from "@signalbox/routing";
import type { ServiceStore } from "../messages/service-store.ts";
import { readPersonNames } from "./person-names.ts";

const DAY_MS = 86_400_000;

interface UsageReads extends Pick<ServiceStore, "usage" | "budgets" | "inbox" | "pairing"> {
  readonly sessions: ServiceStore["sessions"];
}

/** Returns a time on the first day of a period of the given number of UTC days that ends today. */
export function daysAgo(days: number, now: number): number {
  return now - (days - 1) * DAY_MS;
}

/** Reads the usage of completed runs and the remaining budgets of the current periods. */
export async function readUsage(
  store: UsageReads,
  budgets: readonly Budget[],
  { by, days }: UsageQuery,
  now: number,
): Promise<Usage> {
  const from = days === undefined ? undefined : daysAgo(days, now);
  const [sums, left] = await Promise.all([
    store.usage.sum({ by: by === "channel" ? "session" : by, from }),
    readBudgets(store, budgets, now),
  ]);
  const groups = sums.map(({ by: name, ...used }): UsageGroup => ({ name, ...used }));
  const label = await createLabels(
    store,
    by,
    groups.map(({ name }) => name),
  );
  return { groups: label(groups), budgets: left };
}

/** Reads the usage of completed runs by day and group. */
export async function readUsageSeries(
  store: Pick<UsageReads, "usage" | "sessions" | "inbox" | "pairing">,
  { by, days }: UsageSeriesQuery,
  now: number,
): Promise<UsageSeries> {
  const from = days === undefined ? undefined : daysAgo(days, now);
  const rows = await store.usage.series({ by: by === "channel" ? "session" : by, from });
  const names = [...new Set(rows.map((row) => row.by))];
  const label = await createLabels(store, by, names);
  return {
    points: [...Map.groupBy(rows, ({ day }) => day)].flatMap(([day, ofDay]) =>
      label(ofDay.map(({ by: name, day: _, ...used }) => ({ name, ...used }))).map((group) => ({
        ...group,
        day,
      })),
    ),
  };
}

/** Adds names for display to groups. For channels, adds up the sessions of each channel. */
type Labels = (groups: readonly UsageGroup[]) => UsageGroup[];

/** Reads the titles of sessions, the names of senders, or the channels of sessions. */
async function createLabels(
  store: Pick<UsageReads, "sessions" | "inbox" | "pairing">,
  by: UsageQuery["by"],
  names: readonly string[],
): Promise<Labels> {
  if (by === "day" || by === "agent" || by === "model") return (groups) => [...groups];
  if (by === "sender") {
    const people = await readPersonNames(store);
    return addTitles((sender) => {
      const colon = sender.indexOf(":");
      return people.get(sender.slice(0, colon), sender.slice(colon + 1));
    });
  }
  const sessions = await store.sessions.list({ keys: names, limit: names.length });
  const byKey = new Map(sessions.map((session) => [session.key, session]));
  if (by === "session") return addTitles((key) => byKey.get(key)?.title);
  return (groups) => sumByChannel(groups, (key) => byKey.get(key)?.channel ?? getChannel(key));
}

function addTitles(getTitle: (name: string) => string | undefined): Labels {
  return (groups) =>
    groups.map((group) => {
      const title = getTitle(group.name);
      return title === undefined ? group : { ...group, title };
    });
}

/** Returns the channel in the key of a session that was deleted. Empty if the key has none. */
function getChannel(sessionKey: string): string {
  const parts = parseSessionKey(sessionKey);
  return (parts !== undefined && "channel" in parts ? parts.channel : undefined) ?? "";
}

const FIGURES = [
  "runs",
  "modelCalls",
  "inputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "outputTokens",
  "costMicros",
] as const;

function sumByChannel(sessions: readonly UsageGroup[], channelOf: (key: string) => string): UsageGroup[] {
  return [...Map.groupBy(sessions, ({ name }) => channelOf(name))].map(([name, groups]) => {
    const sum = { runs: 0, modelCalls: 0, inputTokens: 0, outputTokens: 0, costMicros: 0 };
    const total = { ...sum, name, cacheReadTokens: 0, cacheWriteTokens: 0 };
    for (const group of groups) for (const figure of FIGURES) total[figure] += group[figure];
    return total;
  });
}

async function readBudgets(
  store: UsageReads,
  budgets: readonly Budget[],
  now: number,
): Promise<BudgetBalance[]> {
  if (budgets.length === 0) return [];
  const balances = await store.budgets.inPeriods([getPeriod("day", now), getPeriod("month", now)]);
  return getAllRemainingBudgets(balances, budgets, now).map(
    ({ budget, account, spent, reserved, allowed, left, until }) => ({
      budget: describeBudget(budget),
      ...getBudgetFacts(budget),
      account,
      spent,
      reserved,
      allowed,
      left,
      until,
    }),
  );
}
