import type { JsonValue, Model, ThinkingLevel } from "@signalbox/agent-core";
import { isRaw, numberAt } from "../shared/json.ts";
import { choice, flag, type QuirkTable, readQuirks } from "../shared/quirks.ts";
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
  /** Whether an answer in JSON may be asked for beside tools (Gemini 3 and later). */
  readonly jsonWithTools: boolean;
}

/** The most that Gemini 2.5 takes, except for Pro's 32,768. */
const MAX_BUDGET = 24_576;

const QUIRKS: QuirkTable<GoogleQuirks> = {
  thinkingStyle: choice("budget", "level"),
  budgets: { usual: THINKING_TOKENS, read: readBudgets },
  signedCalls: flag(false),
  responseMedia: flag(false),
  jsonWithTools: flag(false),
};

/** Reads a model's quirks. */
export function googleQuirks({ id, quirks }: Model): GoogleQuirks {
  const isRecent = /gemini-(?:[3-9]|\d\d)/.test(id);
  const thinkingStyle = isRecent ? "level" : "budget";
  return readQuirks(QUIRKS, quirks, {
    thinkingStyle,
    signedCalls: isRecent,
    responseMedia: isRecent,
    jsonWithTools: isRecent,
  });
}

function readBudgets(given: JsonValue | undefined, base: GoogleQuirks["budgets"]): GoogleQuirks["budgets"] {
  const budgets = { ...base };
  for (const level of LEVELS) {
    const stated = isRaw(given) ? numberAt(given, level) : undefined;
    budgets[level] = stated ?? Math.min(MAX_BUDGET, budgets[level]);
  }
  return budgets;
}
