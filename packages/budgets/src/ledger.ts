import type { Amount, Limit, Pot } from "./budget.ts";

/** What stands against a pot. */
export interface Balance extends Pot {
  /** What calls that are over came to. */
  readonly spent: Amount;
  /** The most that running calls may cost. */
  readonly reserved: Amount;
  /** How often its limit was granted once more. */
  readonly grants: number;
}

/** A pot that is to carry a call. One pot may have several limits. */
export interface Claim extends Pot {
  /** Refuses the call where it is reached. Absent: the pot only counts. */
  readonly limit?: Limit;
}

export interface Settled extends Pot {
  /** Spent before this call and with it. */
  readonly before: Amount;
  readonly after: Amount;
  readonly grants: number;
}

/**
 * What was spent and what is reserved. Each method is one transaction that is on record when it resolves: of calls that
 * are made at the same time each sees what the others have reserved.
 */
export interface Ledger {
  /**
   * Reserves `amount` in every pot, or in none: a pot is full once what is spent and reserved has reached its limit. So
   * a limit is exceeded by the last allowed call at most. What dead processes have reserved counts as spent from then
   * on, because no one knows what their calls cost.
   */
  reserve(
    id: string,
    amount: Amount,
    claims: readonly Claim[],
  ): Promise<{
    /** The claims whose pots are full, by their places; none where it is reserved. */
    readonly full: readonly number[];
  }>;
  /** Puts what a call came to in the place of what was reserved for it. Settled again, it changes nothing. */
  settle(id: string, spent: Amount): Promise<readonly Settled[]>;
  /** Adds the pot's limit once more. */
  grant(pot: Pot): Promise<void>;
  balances(pots: readonly Pot[]): Promise<readonly Balance[]>;
}

export const NOTHING: Amount = { micros: 0, tokens: 0 };

export function sum(a: Amount, b: Amount): Amount {
  return { micros: a.micros + b.micros, tokens: a.tokens + b.tokens };
}

/** What a pot may come to, with what was granted besides. */
export function allowed({ amount }: Limit, grants: number): number {
  return amount * (1 + grants);
}

/** Each pot once. */
export function distinctPots(pots: readonly Pot[]): readonly Pot[] {
  const isFirst = (pot: Pot, place: number): boolean =>
    pots.findIndex((other) => isSamePot(other, pot)) === place;
  return pots.filter(isFirst).map(({ account, period }) => ({ account, period }));
}

export function isSamePot(one: Pot, other: Pot): boolean {
  return one.account === other.account && one.period === other.period;
}

/** The places of the claims whose pots are full. */
export function fullClaims(
  claims: readonly Claim[],
  balanceOf: (pot: Pot) => Omit<Balance, keyof Pot>,
): readonly number[] {
  return claims.flatMap((claim, place) =>
    claim.limit !== undefined && isFull(balanceOf(claim), claim.limit) ? [place] : [],
  );
}

/** Whether nothing more may be reserved. */
export function isFull({ spent, reserved, grants }: Omit<Balance, keyof Pot>, limit: Limit): boolean {
  return spent[limit.unit] + reserved[limit.unit] >= allowed(limit, grants);
}
