import { type AgentMessage, addUsage, type RunUsage as LoopUsage, NO_USAGE } from "@signalbox/agent-core";

/** A run's consumption as clients see it. */
export interface ClientUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly costMicros?: number;
}

/** A run's consumption as a journal sums it. */
export interface JournalUsage {
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costMicros?: number;
}

/** What the turns on record used. Attempts that were void are not on record. */
export function usedIn(messages: readonly AgentMessage[]): LoopUsage {
  const turns = messages.filter((message) => message.role === "assistant");
  return {
    usage: turns.reduce((sum, { usage }) => (usage === undefined ? sum : addUsage(sum, usage)), NO_USAGE),
    turns: turns.length,
    toolCalls: turns.flatMap(({ content }) => content.filter(({ type }) => type === "toolCall")).length,
  };
}

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

export function clientUsage(used: LoopUsage): ClientUsage {
  const { input, output, costMicros } = used.usage;
  return {
    inputTokens: input.total ?? 0,
    cachedTokens: input.cacheRead ?? 0,
    outputTokens: output.total ?? 0,
    ...(costMicros === undefined ? {} : { costMicros }),
  };
}

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
