import * as z from "zod/mini";

/** Property by which the usage of runs is grouped. */
export const UsageBy = z.enum(["day", "agent", "session", "sender", "channel", "model"]);
export type UsageBy = z.infer<typeof UsageBy>;

/** Query of `GET /api/usage`. */
export const UsageQuery = z.object({
  by: z._default(UsageBy, "day"),
  /** Number of days (UTC), including today. Default: all time. */
  days: z.optional(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(36_500))),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

/**
 * Total usage of the finished runs of one group. By model, a run counts for the model that it called last, and its
 * tokens and cost count for the model that used them.
 */
export const UsageGroup = z.object({
  /**
   * The day (UTC, `2026-11-21`), agent id, session key, sender, channel or model (`anthropic/claude-opus-4-5`). Empty
   * for runs without a sender, and for usage without a known model.
   */
  name: z.string(),
  /** Title of the session, or display name of the sender, if it is known. */
  title: z.optional(z.string()),
  runs: z.number(),
  modelCalls: z.number(),
  /** Input tokens, including cache reads and cache writes. */
  inputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  outputTokens: z.number(),
  /** Cost in millionths of a US dollar. */
  costMicros: z.number(),
});
export type UsageGroup = z.infer<typeof UsageGroup>;

/** Query of `GET /api/usage/series`. */
export const UsageSeriesQuery = z.object({
  by: z._default(z.enum(["agent", "session", "sender", "channel", "model"]), "agent"),
  /** Number of days (UTC), including today. Default: all time. */
  days: z.optional(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(36_500))),
});
export type UsageSeriesQuery = z.infer<typeof UsageSeriesQuery>;

/** Response of `GET /api/usage/series`: the usage of each group on each day (UTC) with usage, oldest day first. */
export const UsageSeries = z.object({
  points: z.array(z.extend(UsageGroup, { day: z.string() })),
});
export type UsageSeries = z.infer<typeof UsageSeries>;

/** The balance of one account of a budget. */
export const BudgetBalance = z.object({
  /** Description of the budget, for instance `each sender, $2.00 a day`. */
  budget: z.string(),
  /** Scope of the budget. Without `name`, each sender, agent or channel has a separate account. */
  of: z.enum(["sender", "agent", "channel", "all"]),
  name: z.optional(z.string()),
  roles: z.optional(z.readonly(z.array(z.string()))),
  per: z.enum(["day", "month"]),
  limit: z.number(),
  /** Name of the account, for instance `sender feishu:ou_1` or `all`. */
  account: z.string(),
  /** `micros`: millionths of a US dollar. */
  unit: z.enum(["micros", "tokens"]),
  spent: z.number(),
  /** Amount reserved by model calls in progress. */
  reserved: z.number(),
  /** The limit plus additional grants. */
  allowed: z.number(),
  left: z.number(),
  /** End of the current period, in milliseconds since the epoch. */
  until: z.number(),
});
export type BudgetBalance = z.infer<typeof BudgetBalance>;

/** Response of `GET /api/usage`. */
export const Usage = z.object({ groups: z.array(UsageGroup), budgets: z.array(BudgetBalance) });
export type Usage = z.infer<typeof Usage>;
