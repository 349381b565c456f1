import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Spending on completed calls by account and period. */
export const budgetPot = sqliteTable(
  "budget_pot",
  {
    account: text().notNull(),
    /** `2026-11-22` or `2026-11`. */
    period: text().notNull(),
    micros: integer().notNull().default(0),
    tokens: integer().notNull().default(0),
    /** Number of additional grants of the limit. */
    grants: integer().notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.account, t.period] })],
);

/** Maximum cost of calls in progress, for each of their pots. */
export const budgetReservation = sqliteTable(
  "budget_reservation",
  {
    id: text().notNull(),
    account: text().notNull(),
    period: text().notNull(),
    micros: integer().notNull(),
    tokens: integer().notNull(),
    leaseName: text().notNull(),
    leaseEpoch: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.id, t.account, t.period] }),
    index("budget_reservation_pot").on(t.account, t.period),
  ],
);
export type BudgetReservationRecord = typeof budgetReservation.$inferSelect;
