import { addUsage, type RunUsage as LoopUsage } from "@signalbox/agent-core";
import type { TurnUsage } from "@signalbox/server";
import type { RunUsage as JournalUsage } from "@signalbox/store";

/** What a run used in all, where an earlier process began it. */
export function wholeUsage(
  before: LoopUsage | undefined,
  used: LoopUsage | undefined,
): LoopUsage | undefined {
  if (before === undefined || used === undefined) return used ?? before;
  return {
    usage: addUsage(before.usage, used.usage),
    turns: before.turns + used.turns,
    toolCalls: before.toolCalls + used.toolCalls,
  };
}

/** A run's consumption as clients see it. */
export function clientUsage(used: LoopUsage): TurnUsage {
  const { input, output, costMicros } = used.usage;
  return {
    inputTokens: input.total ?? 0,
    cachedTokens: input.cacheRead ?? 0,
    outputTokens: output.total ?? 0,
    ...(costMicros === undefined ? {} : { costMicros }),
  };
}

/** A run's consumption as the journal sums it. */
export function journalUsage(used: LoopUsage): JournalUsage {
  const { input, output, costMicros } = used.usage;
  return {
    modelCalls: used.turns,
    inputTokens: input.total ?? 0,
    outputTokens: output.total ?? 0,
    cacheReadTokens: input.cacheRead ?? 0,
    cacheWriteTokens: input.cacheWrite ?? 0,
    ...(costMicros === undefined ? {} : { costMicros }),
  };
}
