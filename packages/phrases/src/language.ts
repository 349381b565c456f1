import { en } from "./en.ts";
import type { Phrases } from "./phrases.ts";
import { policy as policyEn } from "./policy/en.ts";
import { policy as policyZh } from "./policy/zh.ts";
import { why as whyEn } from "./why/en.ts";
import { ends as endsEn, gate as gateEn } from "./why/rules-en.ts";
import { ends as endsZh, gate as gateZh } from "./why/rules-zh.ts";
import { why as whyZh } from "./why/zh.ts";
import { zh } from "./zh.ts";

export type Language = "en" | "zh";

const PHRASES: Readonly<Record<Language, Phrases>> = {
  en: { ...en, policy: policyEn, why: whyEn, rules: { gate: gateEn, ends: endsEn } },
  zh: { ...zh, policy: policyZh, why: whyZh, rules: { gate: gateZh, ends: endsZh } },
};

export function phrasesIn(language: Language): Phrases {
  return PHRASES[language];
}

/**
 * The words for whoever wrote something: in the language that is set, else in Chinese where what they wrote has Chinese
 * characters, and in English otherwise.
 */
export function phrasesFor(set: Language | undefined, written: string): Phrases {
  return PHRASES[set ?? (/\p{Script=Han}/u.test(written) ? "zh" : "en")];
}
