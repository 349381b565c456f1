import { useMemo } from "react";
import type { Words } from "./en.ts";
import { useLanguage, useWords } from "./words.tsx";

/** Formats times and numbers in the language of the page. */
export interface Format {
  number(value: number): string;
  /** Formats large numbers briefly, for instance as 12.3K. */
  compact(value: number): string;
  /** @param share from 0 to 1 */
  percent(share: number): string;
  /** @param micros millionths of a US dollar */
  cost(micros: number): string;
  /** Formats a time of today without the date, and other times with it. */
  time(at: number): string;
  /** Formats a time with the date, the time of day and the seconds. */
  exactTime(at: number): string;
  /** Formats the distance of a time to the present, for instance `5 min ago`. */
  relative(at: number, now?: number): string;
  /** Formats a UTC day such as `2026-11-21`. */
  day(day: string): string;
  duration(ms: number): string;
  bytes(count: number): string;
}

export function useFormat(): Format {
  const [language] = useLanguage();
  const { units, ago } = useWords();
  return useMemo(() => createFormat(language, units, ago), [language, units, ago]);
}

/** Times further away than this are formatted as a date. */
const MAX_RELATIVE_MS = 30 * 86_400_000;

function createFormat(language: string, units: Words["units"], ago: Words["ago"]): Format {
  const dollars = new Intl.NumberFormat(language, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: 2,
    maximumFractionDigits: 4,
  });
  const compact = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
  const clock = { hour: "2-digit", minute: "2-digit" } as const;
  const date = { day: "numeric", month: "short" } as const;
  return {
    number: (value) => value.toLocaleString(language),
    compact: (value) => compact.format(value),
    percent: (share) => share.toLocaleString(language, { style: "percent", maximumFractionDigits: 1 }),
    cost: (micros) => dollars.format(micros / 1_000_000),
    time(at) {
      const when = new Date(at);
      const isToday = when.toDateString() === new Date().toDateString();
      return when.toLocaleString(language, isToday ? clock : { ...clock, ...date });
    },
    exactTime: (at) =>
      new Date(at).toLocaleString(language, { ...clock, ...date, second: "2-digit", year: "numeric" }),
    relative(at, now = Date.now()) {
      const distance = Math.abs(now - at);
      if (distance < 60_000) return ago.now;
      if (distance > MAX_RELATIVE_MS)
        return new Date(at).toLocaleDateString(language, { ...date, year: "numeric" });
      const span = formatLargestUnit(distance, units);
      return at < now ? ago.past(span) : ago.future(span);
    },
    day(day) {
      const at = Date.parse(day);
      return Number.isNaN(at) ? day : new Date(at).toLocaleDateString(language, { ...date, timeZone: "UTC" });
    },
    bytes: (count) =>
      count < 1_000_000 ? `${Math.ceil(count / 1_000)} kB` : `${(count / 1_000_000).toFixed(1)} MB`,
    duration: (ms) => formatDuration(ms, units),
  };
}

function formatLargestUnit(ms: number, { min, h, d }: Words["units"]): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} ${min}`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} ${h}` : `${Math.floor(hours / 24)} ${d}`;
}

function formatDuration(ms: number, { ms: millis, s, min, h, d }: Words["units"]): string {
  if (ms < 1_000) return `${Math.round(ms)} ${millis}`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} ${s}`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} ${min}`;
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? `${hours} ${h} ${minutes % 60} ${min}`
    : `${Math.floor(hours / 24)} ${d} ${hours % 24} ${h}`;
}
