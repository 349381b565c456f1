import {
  type Budget,
  type BudgetPot,
  endOfPeriod,
  isAccountOf,
  periodOf,
  potsOf,
  type Spender,
  type Unit,
} from "./budget.ts";
import { allowed, type Balance, type Ledger } from "./ledger.ts";

/** How much of a budget there is. */
export interface Left extends BudgetPot {
  /** In the unit of its limit. */
  readonly spent: number;
  /** Of calls that go on. */
  readonly reserved: number;
  /** With what was granted besides. */
  readonly allowed: number;
  readonly left: number;
  /** When it begins anew, in milliseconds since the epoch. */
  readonly until: number;
}

/** What is left of the budgets that a spender's calls count for. */
export async function budgetsLeft(
  ledger: Pick<Ledger, "balances">,
  budgets: readonly Budget[],
  spender: Spender,
  at: number,
): Promise<readonly Left[]> {
  const pots = potsOf(budgets, spender, at);
  const balances = await ledger.balances(pots);
  return pots.flatMap(({ budget }, place) => {
    const balance = balances[place];
    return balance === undefined ? [] : [leftOf(budget, balance, at)];
  });
}

/** What is left of each budget to everybody whose calls have counted in its present period. */
export function everythingLeft(
  balances: readonly Balance[],
  budgets: readonly Budget[],
  at: number,
): readonly Left[] {
  return budgets.flatMap((budget) => {
    const isMeant = ({ account, period }: Balance): boolean =>
      period === periodOf(budget.per, at) && isAccountOf(budget, account);
    return balances.filter(isMeant).map((balance) => leftOf(budget, balance, at));
  });
}

function leftOf(budget: Budget, { account, period, ...balance }: Balance, at: number): Left {
  const { limit, per } = budget;
  const [spent, reserved] = [balance.spent[limit.unit], balance.reserved[limit.unit]];
  const most = allowed(limit, balance.grants);
  const left = Math.max(0, most - spent - reserved);
  return { budget, account, period, spent, reserved, allowed: most, left, until: endOfPeriod(per, at) };
}

/** A budget in plain values, for texts about it in any language. */
export interface BudgetFacts extends Pick<Budget, "of" | "name" | "roles" | "per"> {
  readonly unit: Unit;
  readonly limit: number;
}

export function factsOf({ of, name, roles, per, limit }: Budget): BudgetFacts {
  return {
    of,
    per,
    unit: limit.unit,
    limit: limit.amount,
    ...(name === undefined ? {} : { name }),
    ...(roles === undefined ? {} : { roles }),
  };
}
