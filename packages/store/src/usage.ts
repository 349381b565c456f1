import type { Context } from "./context.ts";
import { StoreError } from "./errors.ts";
import type { RunUsage, UsageGroup, UsageStore } from "./types/runs.ts";

type Six<V> = [V, V, V, V, V, V];

/** A run's usage in the order of the columns: as reported, and with 0 for what was not. */
export interface CheckedUsage {
  readonly reported: Six<number | null>;
  readonly counted: Six<number>;
}

/** @throws StoreError `invalid` unless every figure is a whole number from 0 up: sums have to be exact */
export function checkUsage(usage: RunUsage): CheckedUsage {
  for (const [name, value] of Object.entries(usage)) {
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 0)) {
      throw new StoreError(
        "invalid",
        `The usage figure ${name} is ${value}: it has to be a whole number from 0 up.`,
      );
    }
  }
  const { modelCalls, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costMicros } = usage;
  return {
    reported: [
      modelCalls ?? null,
      inputTokens ?? null,
      outputTokens ?? null,
      cacheReadTokens ?? null,
      cacheWriteTokens ?? null,
      costMicros ?? null,
    ],
    counted: [
      modelCalls ?? 0,
      inputTokens ?? 0,
      outputTokens ?? 0,
      cacheReadTokens ?? 0,
      cacheWriteTokens ?? 0,
      costMicros ?? 0,
    ],
  };
}

/** Ended runs, those that were pruned (by day) and those that were not. */
const all = `
  SELECT day, agent_id, session_key, runs, model_calls, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, cost_micros FROM usage_day
  UNION ALL
  SELECT date(finished_at / 1000, 'unixepoch'), agent_id, session_key, 1, model_calls, input_tokens, output_tokens,
    cache_read_tokens, cache_write_tokens, cost_micros FROM run WHERE finished_at IS NOT NULL`;

const sums = `
  sum(runs) AS runs, coalesce(sum(model_calls), 0) AS modelCalls, coalesce(sum(input_tokens), 0) AS inputTokens,
  coalesce(sum(output_tokens), 0) AS outputTokens, coalesce(sum(cache_read_tokens), 0) AS cacheReadTokens,
  coalesce(sum(cache_write_tokens), 0) AS cacheWriteTokens, coalesce(sum(cost_micros), 0) AS costMicros`;

const where = `
  (?1 IS NULL OR session_key = ?1) AND (?2 IS NULL OR agent_id = ?2) AND (?3 IS NULL OR day >= ?3)
  AND (?4 IS NULL OR day < ?4)`;

export function createUsageStore({ database, queue }: Context): UsageStore {
  const by = (column: string) =>
    database.query<[string | null, string | null, string | null, string | null], UsageGroup>(
      `SELECT ${column} AS "by", ${sums} FROM (${all}) WHERE ${where} GROUP BY ${column} ORDER BY ${column}`,
    );
  const queries = { day: by("day"), agent: by("agent_id"), session: by("session_key") };
  const dayOf = (at: number | undefined) =>
    at === undefined ? null : new Date(at).toISOString().slice(0, 10);

  return {
    sum: (query) =>
      queue.read(() =>
        queries[query.by].all(
          query.sessionKey ?? null,
          query.agentId ?? null,
          dayOf(query.from),
          dayOf(query.to),
        ),
      ),
  };
}
