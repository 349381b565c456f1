import type { Balance, Ledger, Limit } from "@signalbox/store/types";
import {
  type Budget,
  type BudgetPot,
  getAllowedAmount,
  getPeriod,
  getPeriodEnd,
  getPots,
  limitsAccount,
  type Spender,
} from "./budget.ts";

/** The state of a budget in its current period. Amounts are in the unit of its limit. */
export interface RemainingBudget extends BudgetPot {
  readonly spent: number;
  /** Reserved for running calls. */
  readonly reserved: number;
  /** The limit, including grants. */
  readonly allowed: number;
  readonly left: number;
  /** When the period ends, in milliseconds since the epoch. */
  readonly until: number;
}

/** Returns the state of the budgets that a spender's calls count for. */
export async function getRemainingBudgets(
  ledger: Pick<Ledger, "balances">,
  budgets: readonly Budget[],
  spender: Spender,
  at: number,
): Promise<readonly RemainingBudget[]> {
  const pots = getPots(budgets, spender, at);
  const balances = await ledger.balances(pots);
  return pots.flatMap(({ budget }, index) => {
    const balance = balances[index];
    return balance === undefined ? [] : [getRemaining(budget, balance, at)];
  });
}

/** Returns the state of each budget for everyone whose calls have counted in its current period. */
export function getAllRemainingBudgets(
  balances: readonly Balance[],
  budgets: readonly Budget[],
  at: number,
): readonly RemainingBudget[] {
  return budgets.flatMap((budget) =>
    balances
      .filter(({ account, period }) => period === getPeriod(budget.per, at) && limitsAccount(budget, account))
      .map((balance) => getRemaining(budget, balance, at)),
  );
}

function getRemaining(budget: Budget, { account, period, ...balance }: Balance, at: number): RemainingBudget {
  const { limit, per } = budget;
  const [spent, reserved] = [balance.spent[limit.unit], balance.reserved[limit.unit]];
  const allowed = getAllowedAmount(limit, balance.grants);
  const left = Math.max(0, allowed - spent - reserved);
  return { budget, account, period, spent, reserved, allowed, left, until: getPeriodEnd(per, at) };
}

/** A budget in plain values, for texts about it in any language. */
export interface BudgetFacts extends Pick<Budget, "of" | "name" | "roles" | "per"> {
  readonly unit: Limit["unit"];
  readonly limit: number;
}

export function getBudgetFacts({ of, name, roles, per, limit }: Budget): BudgetFacts {
  return { of, name, roles, per, unit: limit.unit, limit: limit.amount };
}
