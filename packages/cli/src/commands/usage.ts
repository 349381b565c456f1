import { amountText, describeBudget, everythingLeft, type Left, periodOf } from "@signalbox/budgets";
import { daysAgo } from "@signalbox/service";
import { budgetsOf } from "@signalbox/setup";
import type { UsageGroup } from "@signalbox/store";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import { withStore } from "../home-store.ts";
import { printTable } from "../table.ts";

interface UsageOptions extends CommonOptions {
  readonly by: "day" | "agent" | "session" | "sender";
  readonly days?: number;
  readonly budgets?: boolean;
}

/** `signalbox usage`: tokens and money of the runs that have ended, also of those that are not kept any more. */
export async function usage(options: UsageOptions): Promise<void> {
  const { by, days } = options;
  if (options.budgets === true) return budgetsLeft(options);
  const from = days === undefined ? {} : { from: daysAgo(days, Date.now()) };
  const groups = await withStore(options, "read", (store) => store.usage.sum({ by, ...from }));
  const micros = groups.reduce((sum, { costMicros }) => sum + costMicros, 0);
  printTable(options.json, groups, {
    none: "Nothing has been used.",
    columns: {
      [by.toUpperCase()]: (group) => group.by || "(unknown)",
      RUNS: ({ runs }) => String(runs),
      CALLS: ({ modelCalls }) => String(modelCalls),
      "TOKENS IN": ({ inputTokens }) => String(inputTokens),
      "CACHE READ": ({ cacheReadTokens }) => String(cacheReadTokens),
      "CACHE WRITE": ({ cacheWriteTokens }) => String(cacheWriteTokens),
      "TOKENS OUT": ({ outputTokens }) => String(outputTokens),
      "COST (USD)": ({ costMicros }: UsageGroup) => dollars(costMicros),
    },
    below: [
      `In all: ${dollars(micros)} USD. What is read from and written to a cache is part of the tokens in.`,
    ],
  });
}

/** What is left of each budget to everybody whose calls have counted for it. */
async function budgetsLeft(options: CommonOptions): Promise<void> {
  const budgets = budgetsOf(configuredHome(options).loaded.config);
  const at = Date.now();
  const periods = [periodOf("day", at), periodOf("month", at)];
  const balances = await withStore(options, "read", (store) => store.budgets.inPeriods(periods));
  const amount = ({ budget }: Left, value: number): string => amountText(budget.limit.unit, value);
  printTable(options.json, everythingLeft(balances, budgets, at), {
    none:
      budgets.length === 0
        ? "There are no budgets: `budgets` of the configuration sets them."
        : "Nothing has been used of the budgets in this period.",
    columns: {
      BUDGET: ({ budget }) => describeBudget(budget),
      WHOSE: ({ account }) => account,
      USED: (left) => amount(left, left.spent),
      RESERVED: (left) => amount(left, left.reserved),
      LEFT: (left) => amount(left, left.left),
      "ANEW (UTC)": ({ until }) => new Date(until).toISOString().slice(0, 16).replace("T", " "),
    },
  });
}

/** To the last millionth. */
function dollars(micros: number): string {
  return (micros / 1e6).toFixed(6);
}
