import { inArray, type SQL } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ApprovalState } from "../types/common.ts";

const OPEN: readonly ApprovalState[] = ["pending", "allowed"];

/** Approval requests for tool calls, and the decisions on them. */
export const approval = sqliteTable(
  "approval",
  {
    n: integer().primaryKey(),
    id: text().notNull().unique(),
    sessionKey: text().notNull(),
    hash: text().notNull(),
    /** The request as JSON. */
    question: text().notNull(),
    state: text({ enum: ["pending", "allowed", "denied", "used", "expired"] }).notNull(),
    approver: text(),
    grant: text(),
    createdAt: integer().notNull(),
    decidedAt: integer(),
  },
  (t) => [
    index("approval_open").on(t.sessionKey).where(inArray(t.state, OPEN).inlineParams()),
    index("approval_created").on(t.createdAt),
  ],
);
export type ApprovalRecord = typeof approval.$inferSelect;

/** Selects approvals that are undecided or unused. This is the condition of the index `approval_open`. */
export const isOpenApproval: SQL = inArray(approval.state, OPEN).inlineParams();
