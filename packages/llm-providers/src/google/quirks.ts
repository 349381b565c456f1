import type { Model, ThinkingLevel } from "@signalbox/agent-core";
import { isRaw, numberAt } from "../shared/json.ts";
import { LEVELS, THINKING_TOKENS } from "../shared/thinking.ts";

/** What a Gemini model does differently, from `model.quirks`; the defaults go by the model's generation. */
export interface GoogleQuirks {
  /** `level` sends `thinkingLevel` (Gemini 3 and later), `budget` sends `thinkingBudget`. */
  readonly thinkingStyle: "level" | "budget";
  /** Tokens for each level under `budget`. */
  readonly budgets: Readonly<Record<ThinkingLevel, number>>;
  /** Whether calls without a thought signature are refused (Gemini 3 and later). */
  readonly signedCalls: boolean;
  /** Whether a function response may hold media (Gemini 3 and later); else media follows it in the same turn. */
  readonly responseMedia: boolean;
}

/** The most that Gemini 2.5 takes, except for Pro's 32,768. */
const MAX_BUDGET = 24_576;

/** Reads a model's quirks. */
export function googleQuirks(model: Model): GoogleQuirks {
  const own = model.quirks ?? {};
  const recent = /gemini-(?:[3-9]|\d\d)/.test(model.id);
  const budgets = { ...THINKING_TOKENS };
  for (const level of LEVELS) {
    const set = isRaw(own.budgets) ? numberAt(own.budgets, level) : undefined;
    budgets[level] = set ?? Math.min(MAX_BUDGET, budgets[level]);
  }
  const style = own.thinkingStyle;
  return {
    thinkingStyle: style === "level" || style === "budget" ? style : recent ? "level" : "budget",
    budgets,
    signedCalls: typeof own.signedCalls === "boolean" ? own.signedCalls : recent,
    responseMedia: typeof own.responseMedia === "boolean" ? own.responseMedia : recent,
  };
}
