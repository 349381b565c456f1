import {
  type AgentMessage,
  addModelUsage,
  addUsage,
  type RunUsage as LoopUsage,
  type ModelUsage,
  NO_USAGE,
} from "@signalbox/agent-core";

/** Usage of a run for API clients. */
interface ClientUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly costMicros?: number;
}

/** Usage of a run for a journal. */
interface JournalUsage {
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costMicros?: number;
}

/** Sums up the usage of recorded turns. Discarded attempts are not recorded. */
export function sumUsage(messages: readonly AgentMessage[]): LoopUsage {
  const turns = messages.filter((message) => message.role === "assistant");
  return {
    usage: turns.reduce((sum, { usage }) => (usage === undefined ? sum : addUsage(sum, usage)), NO_USAGE),
    turns: turns.length,
    toolCalls: turns.flatMap(({ content }) => content.filter(({ type }) => type === "toolCall")).length,
    models: turns.reduce<readonly ModelUsage[]>(
      (models, { provider, model, usage = NO_USAGE }) =>
        addModelUsage(models, { provider, model, usage, turns: 1 }),
      [],
    ),
  };
}

/** Adds up the usage of a run across restarts. */
export function addRunUsage(
  before: LoopUsage | undefined,
  used: LoopUsage | undefined,
): LoopUsage | undefined {
  if (before === undefined || used === undefined) return used ?? before;
  return {
    usage: addUsage(before.usage, used.usage),
    turns: before.turns + used.turns,
    toolCalls: before.toolCalls + used.toolCalls,
    models: used.models.reduce(addModelUsage, before.models),
  };
}

export function toClientUsage({ usage }: Pick<LoopUsage, "usage">): ClientUsage {
  const { input, output, costMicros } = usage;
  return {
    inputTokens: input.total ?? 0,
    cachedTokens: input.cacheRead ?? 0,
    outputTokens: output.total ?? 0,
    costMicros,
  };
}

/** Returns the usage of each model of a run, with the last model at the end. */
export function toModelUsage({ models }: LoopUsage): (JournalUsage & { readonly model: string })[] {
  return models.map(({ provider, model, ...used }) => ({
    model: `${provider}/${model}`,
    ...toJournalUsage(used),
  }));
}

export function toJournalUsage({ usage, turns }: Pick<LoopUsage, "usage" | "turns">): JournalUsage {
  const { input, output, costMicros } = usage;
  return {
    modelCalls: turns,
    inputTokens: input.total ?? 0,
    outputTokens: output.total ?? 0,
    cacheReadTokens: input.cacheRead ?? 0,
    cacheWriteTokens: input.cacheWrite ?? 0,
    costMicros,
  };
}
