import type { RunUsage } from "./types/usage.ts";

type Figure = keyof RunUsage;

/** A value for each figure of usage. */
export type Figures<V> = Record<Figure, V>;

/** Maps every figure of usage to a value. This is the only list of the figures. */
export function eachFigure<V>(of: (figure: Figure) => V): Figures<V> {
  return {
    modelCalls: of("modelCalls"),
    inputTokens: of("inputTokens"),
    outputTokens: of("outputTokens"),
    cacheReadTokens: of("cacheReadTokens"),
    cacheWriteTokens: of("cacheWriteTokens"),
    costMicros: of("costMicros"),
  };
}
