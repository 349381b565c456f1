import type { ApprovalState } from "@signalbox/store/types";
import { index, pgTable } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** Approval requests for tool calls, and the decisions on them. */
export const approval = pgTable(
  "approval",
  {
    n: integer().primaryKey().generatedByDefaultAsIdentity(),
    id: string().notNull().unique(),
    sessionKey: string().notNull(),
    hash: string().notNull(),
    /** The request as JSON. */
    question: string().notNull(),
    state: string<ApprovalState>().notNull(),
    approver: string(),
    grant: string(),
    createdAt: integer().notNull(),
    decidedAt: integer(),
  },
  (t) => [index("approval_session").on(t.sessionKey, t.state), index("approval_created").on(t.createdAt)],
);
export type ApprovalRecord = typeof approval.$inferSelect;
