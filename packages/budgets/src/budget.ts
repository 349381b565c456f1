import type { Amount, Limit, Pot } from "@signalbox/store/types";

/** Handling of calls after their budget is used up. */
export type WhenUsedUp =
  /** The call is made, and a notice is sent. */
  | { readonly action: "warn" }
  /** Another model answers. */
  | { readonly action: "cheaper"; readonly model: string }
  /** Asks a person for approval. If they agree, the budget's amount is granted again for the rest of its period. */
  | { readonly action: "ask" }
  /** The call is refused. */
  | { readonly action: "stop" };

/** A limit on the cost of the calls that count together in a period. */
export interface Budget {
  /** Grouping of calls: those of one sender, one agent, one channel, or all. */
  readonly of: "sender" | "agent" | "channel" | "all";
  /** Limits the budget to one sender, agent or channel. Default: a separate budget for each. */
  readonly name?: string;
  /** Counts only calls for people with one of these roles. Default: any role. */
  readonly roles?: readonly string[];
  /** The period, in UTC. */
  readonly per: "day" | "month";
  readonly limit: Limit;
  /** The share, from 0 to 1, at which a `low` notice is sent. */
  readonly warnAt: number;
  readonly whenUsedUp: WhenUsedUp;
}

/** The party that a call is made for. */
export interface Spender {
  readonly agent: string;
  /** Absent for calls that no person asked for, such as maintenance. */
  readonly sender?: string;
  readonly channel?: string;
  readonly role?: string;
}

/** A budget and the pot that it counts in. */
export interface BudgetPot extends Pot {
  readonly budget: Budget;
}

export const ZERO: Amount = { micros: 0, tokens: 0 };

export function addAmounts(a: Amount, b: Amount): Amount {
  return { micros: a.micros + b.micros, tokens: a.tokens + b.tokens };
}

/** Returns the limit of a pot, including grants: each adds the amount once more. */
export function getAllowedAmount({ amount }: Limit, grants: number): number {
  return amount * (1 + grants);
}

/** Returns the budgets that a call counts for, each with its pot in the period that contains `at`. */
export function getPots(budgets: readonly Budget[], spender: Spender, at: number): readonly BudgetPot[] {
  return budgets.flatMap((budget) => {
    const owner = budget.of === "all" ? "" : spender[budget.of];
    if (owner === undefined || (budget.name !== undefined && budget.name !== owner)) return [];
    const hasRole = budget.roles?.some((role) => role === spender.role) ?? true;
    return hasRole ? [{ budget, account: getAccount(budget, owner), period: getPeriod(budget.per, at) }] : [];
  });
}

/** Budgets for the same calls share an account regardless of their limits: a limit may change within a period. */
function getAccount(budget: Budget, owner: string): string {
  return `${getAccountPrefix(budget)}${owner}`;
}

function getAccountPrefix({ of, roles }: Budget): string {
  const prefix = roles === undefined ? of : `${of}[${[...roles].toSorted().join()}]`;
  return of === "all" ? prefix : `${prefix} `;
}

/** Returns whether a budget limits an account. */
export function limitsAccount(budget: Budget, account: string): boolean {
  if (budget.of === "all" || budget.name !== undefined)
    return account === getAccount(budget, budget.name ?? "");
  return account.startsWith(getAccountPrefix(budget));
}

/** Describes a budget without naming its owner: `each sender, $2.00 a day`. */
export function describeBudget({ of, name, roles, limit, per }: Budget): string {
  const owner = of === "all" ? "all calls" : name === undefined ? `each ${of}` : `${of} ${name}`;
  const who = roles === undefined ? owner : `${owner} (${roles.join(", ")})`;
  return `${who}, ${formatAmount(limit.unit, limit.amount)} a ${per}`;
}

/** Formats an amount as `$1.25`, `$0.000123` (if it has fractions of a cent) or `20,000 tokens`. */
export function formatAmount(unit: Limit["unit"], amount: number): string {
  if (unit === "tokens") return `${amount.toLocaleString("en-US")} tokens`;
  const digits = amount % 10_000 === 0 ? 2 : 6;
  return `$${(amount / 1e6).toFixed(digits)}`;
}

/** Returns the period that contains `at`: `2026-11-22` for a day, `2026-11` for a month. */
export function getPeriod(per: Budget["per"], at: number): string {
  return new Date(at).toISOString().slice(0, per === "day" ? 10 : 7);
}

/** Returns the end of the period that contains `at`, in milliseconds since the epoch. */
export function getPeriodEnd(per: Budget["per"], at: number): number {
  const now = new Date(at);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  return per === "day" ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
}
