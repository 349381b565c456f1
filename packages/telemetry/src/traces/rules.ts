import { type Concerned, type Phrases, phrasesIn } from "@signalbox/phrases";
import type { GateRule } from "@signalbox/routing";

/** The meaning of a rule, for people who ask why a message was answered or not. */
export interface RuleMeaning {
  /** The second half of a sentence: what is so. */
  readonly because: string;
  /** What to change where that is not as wanted, with the setting. */
  readonly remedy?: (message: Concerned) => string;
}

const english = phrasesIn("en");

/** What the rules of the gate mean; `docs/roles-and-rules.md` lists them. */
export const GATE_RULES: Readonly<Record<GateRule, RuleMeaning>> = english.rules.gate;

/** What a rule means; undefined for one that a channel or a command made up. */
export function meaningOf(rule: string, { rules }: Phrases = english): RuleMeaning | undefined {
  const meanings: Readonly<Record<string, RuleMeaning>> = { ...rules.ends, ...rules.gate };
  return Object.hasOwn(meanings, rule) ? meanings[rule] : undefined;
}
