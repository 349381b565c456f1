import { useMemo } from "react";
import type { Words } from "./en.ts";
import { useLanguage, useWords } from "./words.tsx";

/** Formats times and numbers in the language of the page. */
export interface Format {
  number(value: number): string;
  /** @param micros millionths of a US dollar */
  cost(micros: number): string;
  /** Formats a time of today without the date, and other times with it. */
  time(at: number): string;
  duration(ms: number): string;
  bytes(count: number): string;
}

export function useFormat(): Format {
  const [language] = useLanguage();
  const { units } = useWords();
  return useMemo(() => formatOf(language, units), [language, units]);
}

function formatOf(language: string, units: Words["units"]): Format {
  const dollars = new Intl.NumberFormat(language, {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 4,
  });
  const clock = { hour: "2-digit", minute: "2-digit" } as const;
  return {
    number: (value) => value.toLocaleString(language),
    cost: (micros) => dollars.format(micros / 1_000_000),
    time(at) {
      const date = new Date(at);
      const isToday = date.toDateString() === new Date().toDateString();
      return date.toLocaleString(language, isToday ? clock : { ...clock, day: "numeric", month: "short" });
    },
    bytes: (count) =>
      count < 1_000_000 ? `${Math.ceil(count / 1_000)} kB` : `${(count / 1_000_000).toFixed(1)} MB`,
    duration: (ms) => spanText(ms, units),
  };
}

function spanText(ms: number, { ms: millis, s, min, h, d }: Words["units"]): string {
  if (ms < 1_000) return `${Math.round(ms)} ${millis}`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} ${s}`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} ${min}`;
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? `${hours} ${h} ${minutes % 60} ${min}`
    : `${Math.floor(hours / 24)} ${d} ${hours % 24} ${h}`;
}
