/** A day, or what is told of it. */
interface DateParts {
  readonly year?: number;
  readonly month?: number;
  readonly day?: number;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH =
  "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
const YEAR = "((?:19|20)\\d\\d)";
const DAY = "([0-3]?\\d)(?:st|nd|rd|th)?";

/** How dates are written, and which group holds which part. Earlier ones take the text from later ones. */
const FORMS: readonly { readonly pattern: string; readonly groups: readonly (keyof DateParts)[] }[] = [
  { pattern: `\\b${YEAR}[-/.]([01]?\\d)[-/.]([0-3]?\\d)\\b`, groups: ["year", "month", "day"] },
  { pattern: `${YEAR}\\s*年\\s*([01]?\\d)\\s*月\\s*([0-3]?\\d)\\s*[日号]`, groups: ["year", "month", "day"] },
  { pattern: `${YEAR}\\s*年\\s*([01]?\\d)\\s*月`, groups: ["year", "month"] },
  { pattern: `\\b([01]?\\d)\\s*月\\s*([0-3]?\\d)\\s*[日号]`, groups: ["month", "day"] },
  { pattern: `\\b${MONTH}\\.?\\s+${DAY},?\\s+${YEAR}\\b`, groups: ["month", "day", "year"] },
  { pattern: `\\b${DAY}\\s+(?:of\\s+)?${MONTH}\\.?,?\\s+${YEAR}\\b`, groups: ["day", "month", "year"] },
  { pattern: `\\b${MONTH}\\.?,?\\s+(?:of\\s+)?${YEAR}\\b`, groups: ["month", "year"] },
  { pattern: `\\b${MONTH}\\.?\\s+${DAY}\\b`, groups: ["month", "day"] },
  { pattern: `\\b${DAY}\\s+(?:of\\s+)?${MONTH}\\b`, groups: ["day", "month"] },
  {
    pattern: `\\b(?:in|during|since|until|last|this|next|early|late|mid)[\\s-]+${MONTH}\\b`,
    groups: ["month"],
  },
  { pattern: `\\b${YEAR}\\s*年`, groups: ["year"] },
  { pattern: `\\b(?:in|during|since|until)\\s+${YEAR}\\b`, groups: ["year"] },
];
const ANY_FORM = new RegExp(
  FORMS.map(({ pattern }, index) => `(?<form${index}>${pattern.replace(/\((?!\?)/g, "(?:")})`).join("|"),
  "giu",
);
const EACH_FORM = FORMS.map(({ pattern }) => new RegExp(pattern, "iu"));
/** Most texts have no date; this is quick to say so. */
const MAY_HAVE_DATE = /\d|\b(?:in|during|since|until|last|this|next|early|late|mid)[\s-]/i;

const RELATIVE: readonly (readonly [RegExp, number])[] = [
  [/\btoday\b|今天|今日/i, 0],
  [/\byesterday\b|昨天|昨日/i, -1],
  [/\btomorrow\b|明天|明日/i, 1],
  [/前天/, -2],
];

function datesIn(text: string): DateParts[] {
  if (!MAY_HAVE_DATE.test(text)) return [];
  const dates: DateParts[] = [];
  for (const [match] of text.matchAll(ANY_FORM)) {
    const form = EACH_FORM.findIndex((pattern) => pattern.exec(match)?.[0] === match);
    const groups = EACH_FORM[form]?.exec(match)?.slice(1) ?? [];
    const parts = Object.fromEntries(
      (FORMS[form]?.groups ?? []).map((name, index) => [name, numberOf(groups[index] ?? "")]),
    );
    if (isPossible(parts)) dates.push(parts);
  }
  return dates;
}

/** What a query asks for beside its dates, whose digits stand in many texts. */
export function withoutDates(query: string): string {
  return query.replace(ANY_FORM, " ");
}

function numberOf(text: string): number {
  const month = MONTHS.indexOf(text.slice(0, 3).toLowerCase());
  return month < 0 ? Number(text) : month + 1;
}

function isPossible({ month = 1, day = 1 }: DateParts): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

const two = (value: number): string => String(value).padStart(2, "0");

/** The terms under which a date is found: by itself, and by each part that somebody may ask for. */
function termsOf({ year, month, day }: DateParts): string[] {
  const terms: string[] = [];
  if (year !== undefined) terms.push(`@${year}`);
  if (month !== undefined) {
    terms.push(`@m${two(month)}`);
    if (year !== undefined) terms.push(`@${year}-${two(month)}`);
    if (day !== undefined) {
      terms.push(`@m${two(month)}-${two(day)}`);
      if (year !== undefined) terms.push(`@${year}-${two(month)}-${two(day)}`);
    }
  }
  return terms;
}

/** The most exact term of a date that is asked for. */
function exactTerm(date: DateParts): string[] {
  return termsOf(date).slice(-1);
}

function partsOf(at: number): DateParts {
  const date = new Date(at);
  return { year: date.getFullYear(), month: date.getMonth() + 1, day: date.getDate() };
}

/** Terms of the dates in a text, and of the day on which it was said. */
export function dateTerms(text: string, at?: number): string[] {
  const dates = datesIn(text);
  if (at !== undefined) dates.push(partsOf(at));
  return [...new Set(dates.flatMap(termsOf))];
}

/** Terms of the dates that a query asks for; `now` says which day "yesterday" was. */
export function queriedDateTerms(query: string, now: number): string[] {
  const relative = RELATIVE.filter(([pattern]) => pattern.test(query)).map(([, days]) => {
    const date = new Date(now);
    date.setDate(date.getDate() + days);
    return partsOf(date.getTime());
  });
  return [...new Set([...datesIn(query), ...relative].flatMap(exactTerm))];
}
