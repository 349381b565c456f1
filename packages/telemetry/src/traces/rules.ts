import { type Concerned, type Phrases, phrasesIn } from "@signalbox/phrases";
import type { AdmissionRule } from "@signalbox/routing";

/** The meaning of a rule, for people who want to know why a message was answered or not. */
export interface RuleMeaning {
  /** The reason, as the second half of a sentence. */
  readonly because: string;
  /** Returns the setting to change for another outcome. */
  readonly remedy?: (message: Concerned) => string;
}

const english = phrasesIn("en");

/** Meanings of the admission rules; `docs/roles-and-rules.md` lists them. */
export const ADMISSION_RULES: Readonly<Record<AdmissionRule, RuleMeaning>> = english.rules.admission;

/** Returns the meaning of a rule, or undefined for a rule of a channel or command. */
export function meaningOf(rule: string, { rules }: Phrases = english): RuleMeaning | undefined {
  const meanings: Readonly<Record<string, RuleMeaning>> = { ...rules.ends, ...rules.admission };
  return Object.hasOwn(meanings, rule) ? meanings[rule] : undefined;
}
