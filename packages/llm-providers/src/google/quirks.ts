import type { Model } from "@signalbox/agent-core";
import { type QuirksOf, readQuirks } from "../shared/quirks.ts";

/** What Gemini models do differently; those from Gemini 3 on do the opposite of all this. */
const QUIRKS = {
  /** `level` sends `thinkingLevel`, `budget` sends `thinkingBudget`. */
  thinkingStyle: ["budget", "level"],
  /** Whether calls without a thought signature are refused. */
  signedCalls: false,
  /** Whether a function response may hold media; else media follows it in the same turn. */
  responseMedia: false,
  /** Whether an answer in JSON may be asked for beside tools. */
  jsonWithTools: false,
} as const;

const RECENT = { thinkingStyle: "level", signedCalls: true, responseMedia: true, jsonWithTools: true };

export type GoogleQuirks = QuirksOf<typeof QUIRKS>;

export function googleQuirks({ id, quirks }: Model): GoogleQuirks {
  return readQuirks(QUIRKS, /gemini-(?:[3-9]|\d\d)/.test(id) ? RECENT : {}, quirks);
}
