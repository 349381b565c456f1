/** What is counted: money in millionths of a US dollar, or tokens, those read from a cache included. */
export type Unit = "micros" | "tokens";

/** Whole numbers, so that sums are exact. */
export interface Amount {
  readonly micros: number;
  readonly tokens: number;
}

export interface Limit {
  readonly unit: Unit;
  readonly amount: number;
}

/** What happens to a call once its budget is used up. */
export type WhenUsedUp =
  /** It is made, and reported. */
  | { readonly action: "warn" }
  /** It is made of another model. */
  | { readonly action: "cheaper"; readonly model: string }
  /** A person is asked; a yes adds the budget's amount once more for the rest of its period. */
  | { readonly action: "ask" }
  /** It is not made. */
  | { readonly action: "stop" };

/** So much, in so long, for these calls together. */
export interface Budget {
  /** Whose calls count together: of one sender, one agent, one channel, or all. */
  readonly of: "sender" | "agent" | "channel" | "all";
  /** The one it is for. Default: each has a budget of its own. */
  readonly name?: string;
  /** Only calls for people of these roles count. Default: of all. */
  readonly roles?: readonly string[];
  /** In UTC. */
  readonly per: "day" | "month";
  readonly limit: Limit;
  /** The share, from 0 to 1, at which a warning is given. */
  readonly warnAt: number;
  readonly whenUsedUp: WhenUsedUp;
}

/** For whom a call is made. */
export interface Spender {
  readonly agent: string;
  /** Absent for calls that no one asked for, such as upkeep. */
  readonly sender?: string;
  readonly channel?: string;
  readonly role?: string;
}

/** What one budget counts in one period. */
export interface Pot {
  readonly account: string;
  readonly period: string;
}

export interface BudgetPot extends Pot {
  readonly budget: Budget;
}

/** The budgets that a call counts for, each with the pot that it is counted in. */
export function potsOf(budgets: readonly Budget[], spender: Spender, at: number): readonly BudgetPot[] {
  return budgets.flatMap((budget) => {
    const whose = budget.of === "all" ? "" : spender[budget.of];
    if (whose === undefined || (budget.name !== undefined && budget.name !== whose)) return [];
    const isMeant = budget.roles?.some((role) => role === spender.role) ?? true;
    return isMeant ? [{ budget, account: accountOf(budget, whose), period: periodOf(budget.per, at) }] : [];
  });
}

/** Budgets for the same calls count in one account, whatever their limits are: a limit may change. */
function accountOf(budget: Budget, whose: string): string {
  return `${kindOf(budget)}${whose}`;
}

function kindOf({ of, roles }: Budget): string {
  const kind = roles === undefined ? of : `${of}[${[...roles].toSorted().join()}]`;
  return of === "all" ? kind : `${kind} `;
}

/** Whether an account is one of those that a budget limits. */
export function isAccountOf(budget: Budget, account: string): boolean {
  if (budget.of === "all" || budget.name !== undefined)
    return account === accountOf(budget, budget.name ?? "");
  return account.startsWith(kindOf(budget));
}

/** In words, without saying whose: `each sender, $2.00 a day`. */
export function describeBudget({ of, name, roles, limit, per }: Budget): string {
  const whose = of === "all" ? "all calls" : name === undefined ? `each ${of}` : `${of} ${name}`;
  const who = roles === undefined ? whose : `${whose} (${roles.join(", ")})`;
  return `${who}, ${amountText(limit.unit, limit.amount)} a ${per}`;
}

/** `$1.25`, or `20,000 tokens`. Less than a cent is told to the last millionth. */
export function amountText(unit: Unit, amount: number): string {
  if (unit === "tokens") return `${amount.toLocaleString("en-US")} tokens`;
  const digits = amount % 10_000 === 0 ? 2 : 6;
  return `$${(amount / 1e6).toFixed(digits)}`;
}

/** `2026-11-22`, or `2026-11` for a month. */
export function periodOf(per: Budget["per"], at: number): string {
  return new Date(at).toISOString().slice(0, per === "day" ? 10 : 7);
}

/** When the period that contains `at` is over. */
export function endOfPeriod(per: Budget["per"], at: number): number {
  const now = new Date(at);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  return per === "day" ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
}
