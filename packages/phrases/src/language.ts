import { en } from "./en.ts";
import type { Language } from "./facts.ts";
import type { Phrases } from "./phrases.ts";
import { zh } from "./zh.ts";

const PHRASES: Readonly<Record<Language, Phrases>> = { en, zh };

export function phrasesIn(language: Language): Phrases {
  return PHRASES[language];
}

/** Returns Chinese for a text with Chinese characters; undefined for other texts. */
export function languageOf(written: string): Language | undefined {
  return /\p{Script=Han}/u.test(written) ? "zh" : undefined;
}

/**
 * Returns the phrases for a person: in the configured language, else in Chinese if their text has Chinese characters,
 * else in English.
 */
export function phrasesFor(set: Language | undefined, written: string): Phrases {
  return PHRASES[set ?? languageOf(written) ?? "en"];
}
