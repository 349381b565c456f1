import { index, pgTable, primaryKey } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** Spending on completed calls by account and period. */
export const budgetPot = pgTable(
  "budget_pot",
  {
    account: string().notNull(),
    /** `2026-11-22` or `2026-11`. */
    period: string().notNull(),
    micros: integer().notNull().default(0),
    tokens: integer().notNull().default(0),
    /** Number of additional grants of the limit. */
    grants: integer().notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.account, t.period] })],
);

/** Maximum cost of calls in progress, for each of their pots. */
export const budgetReservation = pgTable(
  "budget_reservation",
  {
    id: string().notNull(),
    account: string().notNull(),
    period: string().notNull(),
    micros: integer().notNull(),
    tokens: integer().notNull(),
    leaseName: string().notNull(),
    leaseEpoch: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.id, t.account, t.period] }),
    index("budget_reservation_pot").on(t.account, t.period),
  ],
);
