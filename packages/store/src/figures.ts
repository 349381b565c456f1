import { StoreError } from "./errors.ts";
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

/** The usage of a run, once as reported and once with 0 for missing figures. */
export interface CheckedUsage {
  readonly reported: Figures<number | null>;
  readonly counted: Figures<number>;
}

/**
 * Checks that every figure is a non-negative integer, so that sums are exact.
 *
 * @throws StoreError `invalid`
 */
export function checkUsage(usage: RunUsage): CheckedUsage {
  for (const [name, value] of Object.entries(usage)) {
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 0)) {
      throw new StoreError(
        "invalid",
        `The usage figure ${name} is ${value}: it must be a whole number, 0 or more.`,
      );
    }
  }
  const filled = <V>(absent: V): Figures<number | V> => eachFigure((figure) => usage[figure] ?? absent);
  return { reported: filled(null), counted: filled(0) };
}

/** Returns the day (UTC) of a time in milliseconds. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
