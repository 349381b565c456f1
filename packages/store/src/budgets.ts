import { type Balance, distinctPots, fullClaims, type Pot } from "@signalbox/budgets";
import { and, asc, eq, inArray, sql } from "drizzle-orm";
import { union } from "drizzle-orm/sqlite-core";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { StoreError } from "./errors.ts";
import type { Fence } from "./leases.ts";
import { type BudgetReservationRecord, budgetPot, budgetReservation } from "./schema/index.ts";
import type { BudgetStore } from "./types/budgets.ts";

type Reserved = Pot & Pick<BudgetReservationRecord, "id" | "micros" | "tokens">;

export function createBudgetStore({ database, queue }: Context, fence: Fence): BudgetStore {
  const { db } = database;
  const potOf = database.query((p: Bound<Pot>) =>
    db
      .select()
      .from(budgetPot)
      .where(and(eq(budgetPot.account, p.account), eq(budgetPot.period, p.period))),
  );
  const reservedIn = database.query((p: Bound<Pot>) =>
    db
      .select({
        micros: sql<number>`coalesce(sum(${budgetReservation.micros}), 0)`.as("micros"),
        tokens: sql<number>`coalesce(sum(${budgetReservation.tokens}), 0)`.as("tokens"),
      })
      .from(budgetReservation)
      .where(and(eq(budgetReservation.account, p.account), eq(budgetReservation.period, p.period))),
  );
  const allReserved = database.query(() => db.select().from(budgetReservation));
  const reservedBy = database.query((p: Bound<{ id: string }>) =>
    db.select().from(budgetReservation).where(eq(budgetReservation.id, p.id)),
  );
  const reserve = database.insert(budgetReservation);
  const release = database.command((p: Bound<{ id: string }>) =>
    db.delete(budgetReservation).where(eq(budgetReservation.id, p.id)),
  );
  const putPot = database.replace(budgetPot, [budgetPot.account, budgetPot.period]);

  function rowOf({ account, period }: Pot) {
    return potOf.get({ account, period }) ?? { account, period, micros: 0, tokens: 0, grants: 0 };
  }

  function balanceOf({ account, period }: Pot): Balance {
    const { micros, tokens, grants } = rowOf({ account, period });
    const reserved = reservedIn.get({ account, period }) ?? { micros: 0, tokens: 0 };
    return { account, period, spent: { micros, tokens }, reserved, grants };
  }

  function spend({ account, period, micros, tokens }: Omit<Reserved, "id">) {
    const row = rowOf({ account, period });
    const after = { micros: row.micros + micros, tokens: row.tokens + tokens };
    putPot.run({ ...row, ...after });
    return {
      account,
      period,
      before: { micros: row.micros, tokens: row.tokens },
      after,
      grants: row.grants,
    };
  }

  /**
   * Whether those calls were made, and what they came to, nobody knows any more: they count for all they might have.
   */
  function spendOfTheDead(): void {
    for (const row of allReserved.all()) {
      if (!fence.lost({ name: row.leaseName, epoch: row.leaseEpoch })) continue;
      release.run({ id: row.id });
      spend(row);
    }
  }

  const balances: BudgetStore["balances"] = (pots) => queue.read(() => pots.map(balanceOf));

  return {
    balances,
    inPeriods: (periods) =>
      queue.read(() => {
        const inThem = (table: typeof budgetPot | typeof budgetReservation) =>
          db
            .select({ account: table.account, period: table.period })
            .from(table)
            .where(inArray(table.period, [...periods]));
        return union(inThem(budgetPot), inThem(budgetReservation))
          .orderBy(asc(sql`account`), asc(sql`period`))
          .all()
          .map(balanceOf);
      }),
    ledger: (lease) => ({
      balances,
      reserve: (id, { micros, tokens }, claims) =>
        queue.write(() => {
          fence.check(lease);
          if (reservedBy.get({ id }) !== undefined)
            throw new StoreError("conflict", `There is a reservation ${id} already.`);
          spendOfTheDead();
          const full = fullClaims(claims, balanceOf);
          if (full.length > 0) return { full };
          const of = { id, micros, tokens, leaseName: lease.name, leaseEpoch: lease.epoch };
          for (const pot of distinctPots(claims)) reserve.run({ ...of, ...pot });
          return { full };
        }),
      settle: (id, { micros, tokens }) =>
        queue.write(() => {
          const rows = reservedBy.all({ id });
          release.run({ id });
          return rows.map(({ account, period }) => spend({ account, period, micros, tokens }));
        }),
      grant: (pot) =>
        queue.write(() => {
          const row = rowOf(pot);
          putPot.run({ ...row, grants: row.grants + 1 });
        }),
    }),
  };
}
