export {
  type Amount,
  amountText,
  type Budget,
  type BudgetPot,
  describeBudget,
  endOfPeriod,
  type Limit,
  type Pot,
  periodOf,
  potsOf,
  type Spender,
  type Unit,
  type WhenUsedUp,
} from "./budget.ts";
export type { PricesOf } from "./estimate.ts";
export {
  allowed,
  type Balance,
  type Claim,
  distinctPots,
  fullClaims,
  isFull,
  type Ledger,
  NOTHING,
  type Settled,
  sum,
} from "./ledger.ts";
export { type BudgetFacts, budgetsLeft, everythingLeft, factsOf, type Left } from "./left.ts";
export { createMemoryLedger } from "./memory-ledger.ts";
export {
  type AskForMore,
  BudgetError,
  type BudgetNews,
  createMeter,
  type Meter,
  type MeteredModel,
  type MeterOptions,
  type Paid,
} from "./meter.ts";
