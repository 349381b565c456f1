import {
  type Budget,
  describeBudget,
  getAllRemainingBudgets,
  getBudgetFacts,
  getPeriod,
} from "@signalbox/budgets";
import type { BudgetBalance, Usage, UsageGroup, UsageQuery } from "@signalbox/protocol";
import type { ServiceStore } from "../messages/service-store.ts";

const DAY_MS = 86_400_000;

interface UsageReads extends Pick<ServiceStore, "usage" | "budgets"> {
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
  const [sums, left] = await Promise.all([
    store.usage.sum({ by, from: days === undefined ? undefined : daysAgo(days, now) }),
    readBudgets(store, budgets, now),
  ]);
  const groups = sums.map(({ by: name, ...used }): UsageGroup => ({ name, ...used }));
  return { groups: by === "session" ? await titled(store, groups) : groups, budgets: left };
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

/** Adds titles to the sessions that have one. */
async function titled({ sessions }: UsageReads, groups: readonly UsageGroup[]): Promise<UsageGroup[]> {
  const found = await sessions.list({ keys: groups.map(({ name }) => name), limit: groups.length });
  const titles = new Map(found.map(({ key, title }) => [key, title]));
  return groups.map((group) => {
    const title = titles.get(group.name);
    return title === undefined ? group : { ...group, title };
  });
}
