import type { Language } from "@signalbox/client";
import { en, type Words } from "./en.ts";
import { zh } from "./zh.ts";

const WORDS: Readonly<Record<Language, Words>> = { en, zh };

const COOKIE = /(?:^|; )language=(en|zh)(?:;|$)/;

export function wordsOf(language: Language): Words {
  return WORDS[language];
}

/** What was chosen on this page before, else the first language of the browser that the page has. */
export function preferredLanguage(cookies: string, browsers: readonly string[]): Language {
  const chosen = COOKIE.exec(cookies)?.[1];
  if (chosen === "en" || chosen === "zh") return chosen;
  const spoken = browsers.map((tag) => tag.split("-")[0]?.toLowerCase());
  return spoken.find((tag) => tag === "en" || tag === "zh") ?? "en";
}

/** The cookie that keeps a choice for a year; nothing but the page reads it. */
export function languageCookie(language: Language): string {
  return `language=${language}; Path=/; Max-Age=31536000; SameSite=Strict`;
}
