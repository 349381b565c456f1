import { type Budget, type BudgetPot, endOfPeriod, potsOf, type Spender } from "./budget.ts";
import { allowed, type Ledger } from "./ledger.ts";

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

/** What is left of the budgets that the calls of somebody count for. */
export async function budgetsLeft(
  ledger: Pick<Ledger, "balances">,
  budgets: readonly Budget[],
  spender: Spender,
  at: number,
): Promise<readonly Left[]> {
  const pots = potsOf(budgets, spender, at);
  const balances = await ledger.balances(pots);
  return pots.flatMap((pot, place): Left[] => {
    const balance = balances[place];
    if (balance === undefined) return [];
    const { limit, per } = pot.budget;
    const [spent, reserved] = [balance.spent[limit.unit], balance.reserved[limit.unit]];
    const most = allowed(limit, balance.grants);
    const left = Math.max(0, most - spent - reserved);
    return [{ ...pot, spent, reserved, allowed: most, left, until: endOfPeriod(per, at) }];
  });
}
