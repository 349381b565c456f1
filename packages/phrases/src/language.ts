import { en } from "./en.ts";
import type { Phrases } from "./phrases.ts";
import { zh } from "./zh.ts";

export type Language = "en" | "zh";

const PHRASES: Readonly<Record<Language, Phrases>> = { en, zh };

export function phrasesIn(language: Language): Phrases {
  return PHRASES[language];
}

/** Chinese, where somebody wrote with Chinese characters; other writing says nothing. */
export function languageOf(written: string): Language | undefined {
  return /\p{Script=Han}/u.test(written) ? "zh" : undefined;
}

/**
 * The phrases for a person: in the configured language, else in Chinese if what they wrote has Chinese characters, and
 * in English otherwise.
 */
export function phrasesFor(set: Language | undefined, written: string): Phrases {
  return PHRASES[set ?? languageOf(written) ?? "en"];
}
