import * as z from "zod/mini";

/** What runs have in common whose usage is summed up. */
export const UsageBy = z.enum(["day", "agent", "session", "sender"]);
export type UsageBy = z.infer<typeof UsageBy>;

/** The query of `GET /api/usage`: of the last so many days (UTC), today being one; without `days`, of all time. */
export const UsageQuery = z.object({
  by: z._default(UsageBy, "day"),
  days: z.exactOptional(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(36_500))),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

/** What runs used that have ended. */
export const UsageGroup = z.object({
  /** The day (UTC, `2026-11-21`), agent id, session key or sender; empty for runs that name no sender. */
  name: z.string(),
  /** Of a session. */
  title: z.exactOptional(z.string()),
  runs: z.number(),
  modelCalls: z.number(),
  /** With what was read from and written to a cache. */
  inputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  outputTokens: z.number(),
  /** Millionths of a US dollar. */
  costMicros: z.number(),
});
export type UsageGroup = z.infer<typeof UsageGroup>;

/** How much of a budget is left to those whose calls count for it together. */
export const BudgetLeft = z.object({
  /** In words: `each sender, $2.00 a day`. */
  budget: z.string(),
  /** The same as facts; without a name each has one of its own. */
  of: z.enum(["sender", "agent", "channel", "all"]),
  name: z.exactOptional(z.string()),
  roles: z.exactOptional(z.readonly(z.array(z.string()))),
  per: z.enum(["day", "month"]),
  limit: z.number(),
  /** Whose: `sender feishu:ou_1`, or `all`. */
  account: z.string(),
  /** `micros`: millionths of a US dollar. */
  unit: z.enum(["micros", "tokens"]),
  spent: z.number(),
  /** Of calls that go on. */
  reserved: z.number(),
  /** With what was granted besides. */
  allowed: z.number(),
  left: z.number(),
  /** When it begins anew. */
  until: z.number(),
});
export type BudgetLeft = z.infer<typeof BudgetLeft>;

/** `GET /api/usage`. */
export const Usage = z.object({ groups: z.array(UsageGroup), budgets: z.array(BudgetLeft) });
export type Usage = z.infer<typeof Usage>;
