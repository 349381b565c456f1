import { type Budget, describeBudget, everythingLeft, periodOf } from "@signalbox/budgets";
import type { BudgetLeft, Usage, UsageGroup, UsageQuery } from "@signalbox/protocol";
import type { ServiceStore } from "./service-store.ts";

const DAY_MS = 86_400_000;

type UsageReads = Pick<ServiceStore, "usage" | "budgets" | "sessions">;

/** Since when a number of days (UTC) is, of which today is one. */
export function daysAgo(days: number, now: number): number {
  return now - (days - 1) * DAY_MS;
}

/** What runs have used that are over, and what is left of budgets in their present periods. */
export async function readUsage(
  store: UsageReads,
  budgets: readonly Budget[],
  { by, days }: UsageQuery,
  now: number,
): Promise<Usage> {
  const [sums, left] = await Promise.all([
    store.usage.sum({ by, ...(days === undefined ? {} : { from: daysAgo(days, now) }) }),
    readBudgets(store, budgets, now),
  ]);
  const groups = sums.map(({ by: name, ...used }): UsageGroup => ({ name, ...used }));
  return { groups: by === "session" ? await Promise.all(groups.map(titled(store))) : groups, budgets: left };
}

async function readBudgets(
  store: Pick<UsageReads, "budgets">,
  budgets: readonly Budget[],
  now: number,
): Promise<BudgetLeft[]> {
  if (budgets.length === 0) return [];
  const balances = await store.budgets.inPeriods([periodOf("day", now), periodOf("month", now)]);
  return everythingLeft(balances, budgets, now).map(
    ({ budget, account, spent, reserved, allowed, left, until }) => ({
      budget: describeBudget(budget),
      account,
      unit: budget.limit.unit,
      spent,
      reserved,
      allowed,
      left,
      until,
    }),
  );
}

function titled({ sessions }: Pick<UsageReads, "sessions">): (group: UsageGroup) => Promise<UsageGroup> {
  return async (group) => {
    const title = (await sessions.get(group.name))?.title;
    return title === undefined ? group : { ...group, title };
  };
}
