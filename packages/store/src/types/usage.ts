import type { Millis } from "./common.ts";

/**
 * Usage sums over the runs of a session, an agent or a day. All values are integers. Cost is in millionths of a US
 * dollar.
 */
export interface UsageTotals {
  readonly runs: number;
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costMicros: number;
}

/** Usage of a run. An absent figure was not reported and counts as 0 in sums. */
export type RunUsage = Partial<Omit<UsageTotals, "runs">>;

/** Usage of one model in a run. */
export interface ModelRunUsage extends RunUsage {
  /** For instance `anthropic/claude-opus-4-5`. */
  readonly model: string;
}

/** Usage of a group of runs. */
export interface UsageGroup extends UsageTotals {
  /**
   * The day (UTC, `2026-11-21`), agent id, session key, sender or model. Empty for runs without a sender, and for usage
   * without a known model.
   */
  readonly by: string;
}

/** Usage of a group of runs on one day. */
export interface DayUsage extends UsageGroup {
  /** The day (UTC), for instance `2026-11-21`. */
  readonly day: string;
}

/**
 * By model, the sums of the groups equal those of any other grouping: a run counts for the model that it called last,
 * and runs without a known model form the group with an empty name.
 */
export interface UsageStore {
  /** Returns exact sums over completed runs. The sums remain after the runs are pruned. */
  sum(query: {
    readonly by: "day" | "agent" | "session" | "sender" | "model";
    readonly sessionKey?: string;
    readonly agentId?: string;
    readonly sender?: string;
    /** Inclusive. Rounded down to the start of the day (UTC). */
    readonly from?: Millis;
    /** Exclusive. Rounded down to the start of the day (UTC). */
    readonly to?: Millis;
  }): Promise<readonly UsageGroup[]>;
  /** Returns exact sums over completed runs by day and group, oldest day first. Days without runs are absent. */
  series(query: {
    readonly by: "agent" | "session" | "sender" | "model";
    /** Inclusive. Rounded down to the start of the day (UTC). Default: all time. */
    readonly from?: Millis;
  }): Promise<readonly DayUsage[]>;
}
