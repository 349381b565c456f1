import type { Language } from "@signalbox/client";
import { en, type Words } from "./en.ts";
import { zh } from "./zh.ts";

const WORDS: Readonly<Record<Language, Words>> = { en, zh };

const COOKIE = /(?:^|; )language=(en|zh)(?:;|$)/;

export function wordsOf(language: Language): Words {
  return WORDS[language];
}

/** Returns the language that the user chose earlier, or the browser's first supported language. */
export function preferredLanguage(cookies: string, browsers: readonly string[]): Language {
  const chosen = COOKIE.exec(cookies)?.[1];
  if (chosen === "en" || chosen === "zh") return chosen;
  const spoken = browsers.map((tag) => tag.split("-")[0]?.toLowerCase());
  return spoken.find((tag) => tag === "en" || tag === "zh") ?? "en";
}

/** Cookie that stores the chosen language for a year. Only the page reads it. */
export function languageCookie(language: Language): string {
  return `language=${language}; Path=/; Max-Age=31536000; SameSite=Strict`;
}
