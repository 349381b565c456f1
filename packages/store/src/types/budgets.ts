import type { LeaseToken } from "./common.ts";

/** An amount in both units. Whole numbers, so that sums are exact. */
export interface Amount {
  /** Millionths of a US dollar. */
  readonly micros: number;
  /** Tokens, including those read from a prompt cache. */
  readonly tokens: number;
}

/** The limit of a pot, in one unit. */
export interface Limit {
  readonly unit: keyof Amount;
  readonly amount: number;
}

/** Spending of an account in a period. */
export interface Pot {
  readonly account: string;
  /** `2026-11-22` or `2026-11`. */
  readonly period: string;
}

/** The state of a pot. */
export interface Balance extends Pot {
  /** Cost of calls that have ended. */
  readonly spent: Amount;
  /** Maximum cost of running calls. */
  readonly reserved: Amount;
  /** Number of times the limit was granted again. */
  readonly grants: number;
}

/** A pot that a call counts for. A pot may have several limits, as several claims. */
export interface Claim extends Pot {
  /** The call is refused once it is reached. Absent: the pot only counts. */
  readonly limit?: Limit;
}

/** A pot after the settlement of a call. */
export interface SettledPot extends Pot {
  /** Spent before this call. */
  readonly before: Amount;
  /** Spent including this call. */
  readonly after: Amount;
  readonly grants: number;
}

/** The ledger of a process. Each method is one transaction and sees the reservations of concurrent calls. */
export interface Ledger {
  /**
   * Reserves `amount` in every pot of the claims, or in none. A claim is full once its pot's spent and reserved amounts
   * reach the limit, times one plus the number of grants. So only the last admitted call can exceed a limit.
   * Reservations of dead processes count as spent, since the cost of their calls is unknown.
   *
   * @returns the indexes of the full claims; none if the amount was reserved
   */
  reserve(
    id: string,
    amount: Amount,
    claims: readonly Claim[],
  ): Promise<{ readonly full: readonly number[] }>;
  /** Replaces a reservation by the actual cost. Returns no pots if it was settled before. */
  settle(id: string, spent: Amount): Promise<readonly SettledPot[]>;
  /** Grants the limit of a pot again. */
  grant(pot: Pot): Promise<void>;
  balances(pots: readonly Pot[]): Promise<readonly Balance[]>;
}

/** Budgets of all processes. */
export interface BudgetStore extends Pick<Ledger, "balances"> {
  /** Returns every pot of these periods with spending or reservations, by account and period. */
  inPeriods(periods: readonly string[]): Promise<readonly Balance[]>;
  /** Returns the ledger of one process. Its reservations count as spent once its lease is lost. */
  ledger(lease: LeaseToken): Ledger;
}
