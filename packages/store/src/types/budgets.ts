import type { LeaseToken } from "./common.ts";

/** An amount in both units. The numbers are integers, so that sums are exact. */
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

/** An account's spending in a period. */
export interface Pot {
  readonly account: string;
  /** `2026-11-22` or `2026-11`. */
  readonly period: string;
}

/** The state of a pot. */
export interface Balance extends Pot {
  /** Cost of completed calls. */
  readonly spent: Amount;
  /** Maximum cost of calls in progress. */
  readonly reserved: Amount;
  /** Number of additional grants of the limit. */
  readonly grants: number;
}

/** A pot that a call is charged to. A pot with several limits has several claims. */
export interface Claim extends Pot {
  /** The call is refused once this limit is reached. If absent, the pot only counts spending. */
  readonly limit?: Limit;
}

/** A pot after the settlement of a call. */
export interface SettledPot extends Pot {
  /** Amount spent before this call. */
  readonly before: Amount;
  /** Amount spent including this call. */
  readonly after: Amount;
  readonly grants: number;
}

/** The budget ledger of one process. Each method is one transaction and sees the reservations of concurrent calls. */
export interface Ledger {
  /**
   * Reserves `amount` in every pot of the claims, or in none. A claim is full once the spent and reserved amounts of
   * its pot reach the limit multiplied by one plus the number of grants. Only the last admitted call can therefore
   * exceed a limit. Reservations of dead processes count as spent, because the cost of their calls is unknown.
   *
   * @returns the indexes of the full claims. Empty if the amount was reserved.
   */
  reserve(
    id: string,
    amount: Amount,
    claims: readonly Claim[],
  ): Promise<{ readonly full: readonly number[] }>;
  /** Replaces a reservation with the actual cost. Returns no pots if the reservation was already settled. */
  settle(id: string, spent: Amount): Promise<readonly SettledPot[]>;
  /** Grants a pot's limit once more. */
  grant(pot: Pot): Promise<void>;
  balances(pots: readonly Pot[]): Promise<readonly Balance[]>;
}

/** Budgets of all processes. */
export interface BudgetStore extends Pick<Ledger, "balances"> {
  /** Returns every pot with spending or reservations in these periods, sorted by account and period. */
  inPeriods(periods: readonly string[]): Promise<readonly Balance[]>;
  /** Returns the ledger of one process. Its reservations count as spent once its lease is lost. */
  ledger(lease: LeaseToken): Ledger;
}
