export type { Amount, Balance, Ledger, Limit, Pot } from "@signalbox/store/types";
export {
  type Budget,
  type BudgetPot,
  describeBudget,
  formatAmount,
  getPeriod,
  getPeriodEnd,
  type Spender,
  type WhenUsedUp,
} from "./budget.ts";
export type { GetPrices } from "./estimate.ts";
export {
  type AskForGrant,
  BudgetError,
  type BudgetNotice,
  createMeter,
  type Meter,
  type MeteredModel,
  type MeterOptions,
  type PaidResult,
} from "./meter.ts";
export {
  type BudgetFacts,
  getAllRemainingBudgets,
  getBudgetFacts,
  getRemainingBudgets,
  type RemainingBudget,
} from "./remaining.ts";
