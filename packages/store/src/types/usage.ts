import type { Millis } from "./common.ts";

/** Sums over the runs of a session, an agent or a day. Whole numbers; cost in millionths of the currency unit. */
export interface UsageTotals {
  readonly runs: number;
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costMicros: number;
}

/** What one run used. An absent figure was not reported, and counts as 0 in sums. */
export type RunUsage = Partial<Omit<UsageTotals, "runs">>;

/** A group of runs. `by` names what they have in common. */
export interface UsageGroup extends UsageTotals {
  /** The day (UTC, `2026-11-21`), agent id, session key or sender; empty for runs that name no sender. */
  readonly by: string;
}

export interface UsageStore {
  /** Exact sums over ended runs; they outlive the pruning of the runs (then to the day). */
  sum(query: {
    readonly by: "day" | "agent" | "session" | "sender";
    readonly sessionKey?: string;
    readonly agentId?: string;
    readonly sender?: string;
    /** Inclusive; taken to the start of its day (UTC). */
    readonly from?: Millis;
    /** Exclusive; taken to the start of its day (UTC). */
    readonly to?: Millis;
  }): Promise<readonly UsageGroup[]>;
}
