import { StoreError } from "@signalbox/store/errors";
import type {
  Amount,
  Balance,
  BudgetStore,
  Claim,
  LeaseToken,
  Ledger,
  Limit,
  Pot,
  SettledPot,
} from "@signalbox/store/types";
import { and, asc, eq, inArray, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/pg-core";
import type { Context } from "./context.ts";
import type { Fence } from "./leases.ts";
import { lockNames } from "./locks.ts";
import { budgetPot, budgetReservation } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

const NOTHING: Amount = { micros: 0, tokens: 0 };

export function createBudgetStore({ database }: Context, fence: Fence): BudgetStore {
  const balances: BudgetStore["balances"] = (pots) => database.read((tx) => readBalances(tx, pots));

  const createLedger = (lease: LeaseToken): Ledger => ({
    balances,

    reserve: (id, { micros, tokens }, claims) =>
      database.write(async (tx) => {
        const { db, send } = tx;
        const pots = getDistinctPots(claims);
        // A pot has no row before the first call is settled.
        lockNames(tx, pots.map(nameOf));
        const [, existing, lost, present] = await Promise.all([
          fence.check(tx, lease),
          db.select().from(budgetReservation).where(eq(budgetReservation.id, id)),
          db.delete(budgetReservation).where(fence.isLost(budgetReservation, lease)).returning(),
          readBalances(tx, claims),
        ]);
        if (existing.length > 0)
          throw new StoreError("conflict", `Reservation ${id} already exists: use a new id.`);
        // The cost of the calls of dead processes is unknown, so their full reservations count as spent.
        for (const { micros: spent, tokens: used, ...pot } of lost)
          await spend(tx, pot, { micros: spent, tokens: used });
        const balances = lost.length === 0 ? present : await readBalances(tx, claims);
        const full = getFullClaims(claims, balances);
        if (full.length > 0) return { full };
        const of = { id, micros, tokens, leaseName: lease.name, leaseEpoch: lease.epoch };
        if (pots.length > 0)
          send(db.insert(budgetReservation).values(pots.map((pot) => ({ ...of, ...pot }))));
        return { full };
      }),

    settle: (id, { micros, tokens }) =>
      database.write(async (tx) => {
        const isReservation = eq(budgetReservation.id, id);
        const rows = await tx.db.delete(budgetReservation).where(isReservation).returning();
        return Promise.all(
          rows
            .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
            .map((pot) => spend(tx, pot, { micros, tokens })),
        );
      }),

    grant: (pot) =>
      database.write(async ({ db, send }) => {
        const { account, period } = pot;
        const set = { grants: sql`${budgetPot.grants} + 1` };
        const target = [budgetPot.account, budgetPot.period];
        send(db.insert(budgetPot).values({ account, period, grants: 1 }).onConflictDoUpdate({ target, set }));
      }),
  });

  return {
    balances,
    inPeriods: (periods) =>
      database.read((tx) => selectBalances(tx, (table) => inArray(table.period, [...periods]))),
    ledger: createLedger,
  };
}

const nameOf = ({ account, period }: Pot): string => `budget ${account} ${period}`;

const isPot = (table: PotTable, { account, period }: Pot): SQL | undefined =>
  and(eq(table.account, account), eq(table.period, period));

/** Adds an amount to a pot. */
async function spend({ db }: Transaction, { account, period }: Pot, spent: Amount): Promise<SettledPot> {
  const set = {
    micros: sql`${budgetPot.micros} + ${spent.micros}`,
    tokens: sql`${budgetPot.tokens} + ${spent.tokens}`,
  };
  const target = [budgetPot.account, budgetPot.period];
  const values = { account, period, micros: spent.micros, tokens: spent.tokens };
  const [row = { ...values, grants: 0 }] = await db
    .insert(budgetPot)
    .values(values)
    .onConflictDoUpdate({ target, set })
    .returning();
  const { micros, tokens, grants } = row;
  const before = { micros: micros - spent.micros, tokens: tokens - spent.tokens };
  return { account, period, before, after: { micros, tokens }, grants };
}

const sum = (column: SQLWrapper): SQL<number> => sql<number>`sum(${column})`.mapWith(Number);

type PotTable = typeof budgetPot | typeof budgetReservation;

/**
 * Returns the selected balances, sorted by account and period. Uses one statement, because a call that is settled
 * between two statements would count neither as reserved nor as spent.
 */
async function selectBalances(
  { db }: Transaction,
  where: (table: PotTable) => SQL | undefined,
): Promise<Balance[]> {
  const zero = (name: string) => sql<number>`0::bigint`.as(name);
  const spent = db
    .select({
      account: budgetPot.account,
      period: budgetPot.period,
      micros: budgetPot.micros,
      tokens: budgetPot.tokens,
      grants: budgetPot.grants,
      reservedMicros: zero("reserved_micros"),
      reservedTokens: zero("reserved_tokens"),
    })
    .from(budgetPot)
    .where(where(budgetPot));
  const reserved = db
    .select({
      account: budgetReservation.account,
      period: budgetReservation.period,
      micros: zero("micros"),
      tokens: zero("tokens"),
      grants: zero("grants"),
      reservedMicros: budgetReservation.micros,
      reservedTokens: budgetReservation.tokens,
    })
    .from(budgetReservation)
    .where(where(budgetReservation));
  const pots = unionAll(spent, reserved).as("pots");
  return db
    .select({
      account: pots.account,
      period: pots.period,
      spent: { micros: sum(pots.micros), tokens: sum(pots.tokens) },
      reserved: { micros: sum(pots.reservedMicros), tokens: sum(pots.reservedTokens) },
      grants: sum(pots.grants),
    })
    .from(pots)
    .groupBy(pots.account, pots.period)
    .orderBy(asc(pots.account), asc(pots.period));
}

/** Returns the balances in the order of the pots. */
async function readBalances(tx: Transaction, pots: readonly Pot[]): Promise<Balance[]> {
  if (pots.length === 0) return [];
  const found = await selectBalances(tx, (table) => or(...pots.map((pot) => isPot(table, pot))));
  return pots.map(({ account, period }) => {
    const balance = found.find((one) => one.account === account && one.period === period);
    return balance ?? { account, period, spent: NOTHING, reserved: NOTHING, grants: 0 };
  });
}

/** Returns the indexes of the claims that have reached their limits. */
function getFullClaims(claims: readonly Claim[], balances: readonly Balance[]): number[] {
  return claims.flatMap(({ limit }, index) => {
    const balance = balances[index];
    return limit !== undefined && balance !== undefined && isFull(balance, limit) ? [index] : [];
  });
}

function isFull({ spent, reserved, grants }: Balance, { unit, amount }: Limit): boolean {
  return spent[unit] + reserved[unit] >= amount * (1 + grants);
}

function getDistinctPots(pots: readonly Pot[]): readonly Pot[] {
  const distinct = new Map(
    pots.map(({ account, period }) => [nameOf({ account, period }), { account, period }]),
  );
  return [...distinct.values()];
}
