import type { RunUsage } from "./types/usage.ts";

type Figure = keyof RunUsage;

/** Something of every figure of usage. */
export type Figures<V> = Record<Figure, V>;

/** The one list of the figures, in the order of their columns. */
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
