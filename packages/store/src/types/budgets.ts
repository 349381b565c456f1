import type { Balance, Ledger } from "@signalbox/budgets";
import type { LeaseToken } from "./common.ts";

/** What was spent of budgets, and what running calls have reserved. */
export interface BudgetStore extends Pick<Ledger, "balances"> {
  /** What stands against every pot of these periods that something was spent of or reserved in. */
  inPeriods(periods: readonly string[]): Promise<readonly Balance[]>;
  /** The ledger of one process. What it has reserved counts as spent once its lease is lost. */
  ledger(lease: LeaseToken): Ledger;
}
