import type { Millis } from "./common.ts";

/** Sums over runs of a session, an agent or a day. Integers; cost in millionths of a US dollar. */
export interface UsageTotals {
  readonly runs: number;
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costMicros: number;
}

/** Usage of a run. An absent figure was not reported, and counts as 0 in sums. */
export type RunUsage = Partial<Omit<UsageTotals, "runs">>;

/** Usage of a group of runs. */
export interface UsageGroup extends UsageTotals {
  /** The day (UTC, `2026-11-21`), agent id, session key or sender. Empty for runs without a sender. */
  readonly by: string;
}

export interface UsageStore {
  /** Returns exact sums over ended runs. They survive the pruning of the runs. */
  sum(query: {
    readonly by: "day" | "agent" | "session" | "sender";
    readonly sessionKey?: string;
    readonly agentId?: string;
    readonly sender?: string;
    /** Inclusive; rounded down to the start of its day (UTC). */
    readonly from?: Millis;
    /** Exclusive; rounded down to the start of its day (UTC). */
    readonly to?: Millis;
  }): Promise<readonly UsageGroup[]>;
}
