import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** What calls that are over came to, by whose they are and the period that they fell in. */
export const budgetPot = sqliteTable(
  "budget_pot",
  {
    account: text().notNull(),
    /** `2026-11-22` or `2026-11`. */
    period: text().notNull(),
    micros: integer().notNull().default(0),
    tokens: integer().notNull().default(0),
    /** How often its limit was granted once more. */
    grants: integer().notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.account, t.period] })],
);

/** What calls that go on may come to, in each pot that they count for. */
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
