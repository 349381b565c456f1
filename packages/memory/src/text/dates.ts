import { chineseNumber, type DateParts } from "./date-parts.ts";
import { relativeDays } from "./relative-dates.ts";

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH =
  "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
const YEAR = "((?:19|20)\\d\\d)";
const DAY = "([0-3]?\\d)(?:st|nd|rd|th)?";
/** A month or day in digits or Chinese numerals, not preceded by another digit. */
const ZH_NUMBER = "(?<![\\d一二三四五六七八九十])([0-3]?\\d|[一二三四五六七八九十]{1,3})";

/** Date formats, with the meaning of their groups. The first matching format applies. */
const FORMATS: readonly { readonly pattern: string; readonly groups: readonly (keyof DateParts)[] }[] = [
  { pattern: `\\b${YEAR}[-/.]([01]?\\d)[-/.]([0-3]?\\d)\\b`, groups: ["year", "month", "day"] },
  {
    pattern: `${YEAR}\\s*年\\s*${ZH_NUMBER}\\s*月\\s*${ZH_NUMBER}\\s*[日号]`,
    groups: ["year", "month", "day"],
  },
  { pattern: `${YEAR}\\s*年\\s*${ZH_NUMBER}\\s*月`, groups: ["year", "month"] },
  { pattern: `${ZH_NUMBER}\\s*月\\s*${ZH_NUMBER}\\s*[日号]`, groups: ["month", "day"] },
  { pattern: `${ZH_NUMBER}\\s*月份?`, groups: ["month"] },
  { pattern: `\\b${MONTH}\\.?\\s+${DAY},?\\s+${YEAR}\\b`, groups: ["month", "day", "year"] },
  { pattern: `\\b${DAY}\\s+(?:of\\s+)?${MONTH}\\.?,?\\s+${YEAR}\\b`, groups: ["day", "month", "year"] },
  { pattern: `\\b${MONTH}\\.?,?\\s+(?:of\\s+)?${YEAR}\\b`, groups: ["month", "year"] },
  { pattern: `\\b${MONTH}\\.?\\s+${DAY}\\b`, groups: ["month", "day"] },
  { pattern: `\\b${DAY}\\s+(?:of\\s+)?${MONTH}\\b`, groups: ["day", "month"] },
  {
    pattern: `\\b(?:in|during|since|until|last|this|next|early|late|mid)[\\s-]+${MONTH}\\b`,
    groups: ["month"],
  },
  { pattern: `${YEAR}\\s*年`, groups: ["year"] },
  { pattern: `\\b(?:in|during|since|until)\\s+${YEAR}\\b`, groups: ["year"] },
];
const ANY_FORMAT = new RegExp(
  FORMATS.map(({ pattern }, index) => `(?<format${index}>${pattern.replace(/\((?!\?)/g, "(?:")})`).join("|"),
  "giu",
);
const EACH_FORMAT = FORMATS.map(({ pattern }) => new RegExp(pattern, "iu"));
/** Quickly excludes texts without a date, which are the majority. */
const MAY_HAVE_DATE = /\d|月|\b(?:in|during|since|until|last|this|next|early|late|mid)[\s-]/i;

function datesIn(text: string): DateParts[] {
  if (!MAY_HAVE_DATE.test(text)) return [];
  const dates: DateParts[] = [];
  for (const { groups = {} } of text.matchAll(ANY_FORMAT)) {
    const [name = "", match = ""] = Object.entries(groups).find(([, value]) => value !== undefined) ?? [];
    const format = Number(name.slice("format".length));
    const values = EACH_FORMAT[format]?.exec(match)?.slice(1) ?? [];
    const parts = Object.fromEntries(
      (FORMATS[format]?.groups ?? []).map((part, index) => [part, numberOf(values[index] ?? "")]),
    );
    if (isPossible(parts)) dates.push(parts);
  }
  return dates;
}

/** Removes the dates from a query, because their digits occur in many texts. */
export function withoutDates(query: string): string {
  return query.replace(ANY_FORMAT, " ");
}

function numberOf(text: string): number {
  const month = MONTHS.indexOf(text.slice(0, 3).toLowerCase());
  if (month >= 0) return month + 1;
  return /^\d+$/.test(text) ? Number(text) : chineseNumber(text);
}

function isPossible({ month = 1, day = 1 }: DateParts): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

const twoDigits = (value: number): string => String(value).padStart(2, "0");

/** Returns the index terms of a date: one for each combination of parts that a query may state. */
function termsOf({ year, month, day }: DateParts): string[] {
  const terms: string[] = [];
  if (year !== undefined) terms.push(`@${year}`);
  if (month !== undefined) {
    terms.push(`@m${twoDigits(month)}`);
    if (year !== undefined) terms.push(`@${year}-${twoDigits(month)}`);
    if (day !== undefined) {
      terms.push(`@m${twoDigits(month)}-${twoDigits(day)}`);
      if (year !== undefined) terms.push(`@${year}-${twoDigits(month)}-${twoDigits(day)}`);
    }
  }
  return terms;
}

/** Returns the most specific term of a date. */
function mostSpecificTerm(date: DateParts): string[] {
  return termsOf(date).slice(-1);
}

function partsOf(date: Date): DateParts {
  return { year: date.getFullYear(), month: date.getMonth() + 1, day: date.getDate() };
}

/**
 * Returns the index terms of the dates in a text.
 *
 * @param at the time of the text in milliseconds, which adds the terms of that day
 */
export function dateTerms(text: string, at?: number): string[] {
  const dates = datesIn(text);
  if (at !== undefined) dates.push(partsOf(new Date(at)));
  return [...new Set(dates.flatMap(termsOf))];
}

/**
 * Returns the terms of the dates that a query asks for, absolute or relative ("last Tuesday", 上周二).
 *
 * @param now the time from which relative dates are counted, in milliseconds
 */
export function queriedDateTerms(query: string, now: number): string[] {
  return [...new Set([...datesIn(query), ...relativeDays(query, new Date(now))].flatMap(mostSpecificTerm))];
}
