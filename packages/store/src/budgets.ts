import { and, asc, eq, inArray, type SQLWrapper, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import type { Context } from "./context.ts";
import type { Bound, Database } from "./database.ts";
import { StoreError } from "./errors.ts";
import type { Fence } from "./leases.ts";
import { type BudgetReservationRecord, budgetPot, budgetReservation } from "./schema/index.ts";
import type { Balance, BudgetStore, Claim, Limit, Pot } from "./types/budgets.ts";
import type { LeaseToken } from "./types/common.ts";

type Reserved = Pot & Pick<BudgetReservationRecord, "id" | "micros" | "tokens">;

function prepareStatements(database: Database) {
  const { db } = database;
  return {
    potOf: database.query((p: Bound<Pot>) =>
      db
        .select()
        .from(budgetPot)
        .where(and(eq(budgetPot.account, p("account")), eq(budgetPot.period, p("period")))),
    ),
    reservedIn: database.query((p: Bound<Pot>) =>
      db
        .select({
          micros: sql<number>`coalesce(sum(${budgetReservation.micros}), 0)`.as("micros"),
          tokens: sql<number>`coalesce(sum(${budgetReservation.tokens}), 0)`.as("tokens"),
        })
        .from(budgetReservation)
        .where(and(eq(budgetReservation.account, p("account")), eq(budgetReservation.period, p("period")))),
    ),
    allReserved: database.query(() => db.select().from(budgetReservation)),
    reservedBy: database.query((p: Bound<{ id: string }>) =>
      db
        .select()
        .from(budgetReservation)
        .where(eq(budgetReservation.id, p("id"))),
    ),
    reserve: database.insert(budgetReservation),
    release: database.command((p: Bound<{ id: string }>) =>
      db.delete(budgetReservation).where(eq(budgetReservation.id, p("id"))),
    ),
    putPot: database.replace(budgetPot, [budgetPot.account, budgetPot.period]),
  };
}

/** Creates the functions that read and write pots inside a transaction. */
function createPots(statements: ReturnType<typeof prepareStatements>) {
  function getRow({ account, period }: Pot) {
    return statements.potOf.get({ account, period }) ?? { account, period, micros: 0, tokens: 0, grants: 0 };
  }

  function getBalance({ account, period }: Pot): Balance {
    const { micros, tokens, grants } = getRow({ account, period });
    const reserved = statements.reservedIn.get({ account, period }) ?? { micros: 0, tokens: 0 };
    return { account, period, spent: { micros, tokens }, reserved, grants };
  }

  function spend({ account, period, micros, tokens }: Omit<Reserved, "id">) {
    const row = getRow({ account, period });
    const after = { micros: row.micros + micros, tokens: row.tokens + tokens };
    statements.putPot.run({ ...row, ...after });
    return {
      account,
      period,
      before: { micros: row.micros, tokens: row.tokens },
      after,
      grants: row.grants,
    };
  }

  return { getRow, getBalance, spend };
}

export function createBudgetStore({ database, queue }: Context, fence: Fence): BudgetStore {
  const statements = prepareStatements(database);
  const { getRow, getBalance, spend } = createPots(statements);

  /**
   * Settles the reservations of dead processes. The cost of their calls is unknown, so the full reservation counts as
   * spent.
   */
  function settleLostReservations(asker: LeaseToken): void {
    for (const row of statements.allReserved.all()) {
      if (!fence.lost({ name: row.leaseName, epoch: row.leaseEpoch }, asker)) continue;
      statements.release.run({ id: row.id });
      spend(row);
    }
  }

  const balances: BudgetStore["balances"] = (pots) => queue.read(() => pots.map(getBalance));

  return {
    balances,
    inPeriods: (periods) => queue.read(() => getBalances(database, periods)),
    ledger: (lease) => ({
      balances,
      reserve: (id, { micros, tokens }, claims) =>
        queue.write(() => {
          fence.check(lease);
          if (statements.reservedBy.get({ id }) !== undefined)
            throw new StoreError("conflict", `Reservation ${id} already exists: use a new id.`);
          settleLostReservations(lease);
          const full = getFullClaims(claims, getBalance);
          if (full.length > 0) return { full };
          const of = { id, micros, tokens, leaseName: lease.name, leaseEpoch: lease.epoch };
          for (const pot of getDistinctPots(claims)) statements.reserve.run({ ...of, ...pot });
          return { full };
        }),
      settle: (id, { micros, tokens }) =>
        queue.write(() => {
          const rows = statements.reservedBy.all({ id });
          statements.release.run({ id });
          return rows.map(({ account, period }) => spend({ account, period, micros, tokens }));
        }),
      grant: (pot) =>
        queue.write(() => {
          const row = getRow(pot);
          statements.putPot.run({ ...row, grants: row.grants + 1 });
        }),
    }),
  };
}

/** Returns the indexes of the claims that have reached their limits. */
function getFullClaims(claims: readonly Claim[], getBalance: (pot: Pot) => Balance): number[] {
  return claims.flatMap(({ limit, ...pot }, index) =>
    limit !== undefined && isFull(getBalance(pot), limit) ? [index] : [],
  );
}

function isFull({ spent, reserved, grants }: Balance, { unit, amount }: Limit): boolean {
  return spent[unit] + reserved[unit] >= amount * (1 + grants);
}

function getDistinctPots(pots: readonly Pot[]): readonly Pot[] {
  const distinct = new Map(
    pots.map(({ account, period }) => [JSON.stringify([account, period]), { account, period }]),
  );
  return [...distinct.values()];
}

/** Returns the balances, sorted by account and period. */
function getBalances({ db }: Database, periods: readonly string[]): Balance[] {
  const none = (name: string) => sql<number>`0`.as(name);
  const spent = db
    .select({
      account: budgetPot.account,
      period: budgetPot.period,
      micros: budgetPot.micros,
      tokens: budgetPot.tokens,
      grants: budgetPot.grants,
      reservedMicros: none("reserved_micros"),
      reservedTokens: none("reserved_tokens"),
    })
    .from(budgetPot)
    .where(inArray(budgetPot.period, [...periods]));
  const reserved = db
    .select({
      account: budgetReservation.account,
      period: budgetReservation.period,
      micros: none("micros"),
      tokens: none("tokens"),
      grants: none("grants"),
      reservedMicros: budgetReservation.micros,
      reservedTokens: budgetReservation.tokens,
    })
    .from(budgetReservation)
    .where(inArray(budgetReservation.period, [...periods]));
  const pots = unionAll(spent, reserved).as("pots");
  const sum = (column: SQLWrapper) => sql<number>`sum(${column})`;
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
    .orderBy(asc(pots.account), asc(pots.period))
    .all();
}
