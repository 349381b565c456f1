import type { RunUsage as LoopUsage } from "@signalbox/agent-core";
import type { TurnUsage } from "@signalbox/server";
import type { RunUsage as JournalUsage } from "@signalbox/store";

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
    costMicros: costMicros ?? 0,
  };
}
