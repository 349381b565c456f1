import type { RunUsage } from "./types/usage.ts";

type Figure = keyof RunUsage;

/** One value for each usage figure. */
export type Figures<V> = Record<Figure, V>;

/** Maps every usage figure to a value. This is the only list of usage figures. */
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
