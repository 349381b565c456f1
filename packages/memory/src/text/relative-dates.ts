import { chineseNumber, type DateParts } from "./date-parts.ts";

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const ZH_WEEKDAYS = "日一二三四五六";
const NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const DAYS_IN_WEEK = 7;

const NUMBER = `(\\d{1,3}|an?|${NUMBERS.join("|")})`;
const ZH_NUMBER = "(\\d{1,3}|[一二两三四五六七八九十]{1,3})";
const ZH_WEEK = "(?:个)?(?:周|星期|礼拜)";

/** Returns the dates to which a matched expression refers. */
type Resolve = (groups: readonly string[], today: Date) => readonly DateParts[];

const EXPRESSIONS: readonly (readonly [RegExp, Resolve])[] = [
  [/\b(?:today|tonight)\b|今天|今日|今晚/gi, days(0)],
  [/\b(?<!day before )yesterday\b|昨天|昨日|昨晚/gi, days(-1)],
  [/\b(?<!day after )tomorrow\b|明天|明日|明晚/gi, days(1)],
  [/\bday before yesterday\b|(?<!大)前天/gi, days(-2)],
  [/\bday after tomorrow\b|(?<!大)后天/gi, days(2)],
  [/大前天/g, days(-3)],
  [/大后天/g, days(3)],
  [new RegExp(`\\b${NUMBER} days? ago\\b`, "gi"), ([n], today) => [day(today, -numberOf(n))]],
  [new RegExp(`\\bin ${NUMBER} days?\\b`, "gi"), ([n], today) => [day(today, numberOf(n))]],
  [new RegExp(`${ZH_NUMBER}天(?:以)?前`, "g"), ([n], today) => [day(today, -numberOf(n))]],
  [new RegExp(`${ZH_NUMBER}天(?:以|之)?后`, "g"), ([n], today) => [day(today, numberOf(n))]],
  [new RegExp(`\\b${NUMBER} weeks? ago\\b`, "gi"), ([n], today) => week(today, -numberOf(n))],
  [new RegExp(`${ZH_NUMBER}${ZH_WEEK}(?:以)?前`, "g"), ([n], today) => week(today, -numberOf(n))],
  [/\b(last|this|next) week\b/gi, ([which], today) => week(today, offsetOf(which))],
  [/\b(last|this|next) weekend\b/gi, ([which], today) => week(today, offsetOf(which)).slice(-2)],
  [
    new RegExp(`([上这本下]|上上|下下)${ZH_WEEK}(末|[${ZH_WEEKDAYS}天])?`, "g"),
    ([which, weekday = ""], today) => {
      const found = week(today, offsetOf(which));
      if (weekday === "") return found;
      if (weekday === "末") return found.slice(-2);
      const place = "一二三四五六日".indexOf(weekday === "天" ? "日" : weekday);
      return found.slice(place, place + 1);
    },
  ],
  [
    new RegExp(`\\b(last|next) (${WEEKDAYS.join("|")})\\b`, "gi"),
    ([which = "", name = ""], today) => {
      const distance = WEEKDAYS.indexOf(name.toLowerCase()) - today.getDay();
      const ahead = ((distance + DAYS_IN_WEEK - 1) % DAYS_IN_WEEK) + 1;
      const back = ((distance + DAYS_IN_WEEK) % DAYS_IN_WEEK) - DAYS_IN_WEEK;
      return [day(today, which.toLowerCase() === "next" ? ahead : back)];
    },
  ],
  [/\b(last|this|next) month\b/gi, ([which], today) => [month(today, offsetOf(which))]],
  [/([上这本下])个?月/g, ([which], today) => [month(today, offsetOf(which))]],
  [/\b(last|this|next) year\b/gi, ([which], today) => [{ year: today.getFullYear() + offsetOf(which) }]],
  [/前年/g, (_, today) => [{ year: today.getFullYear() - 2 }]],
  [/去年/g, (_, today) => [{ year: today.getFullYear() - 1 }]],
  [/今年/g, (_, today) => [{ year: today.getFullYear() }]],
  [/明年/g, (_, today) => [{ year: today.getFullYear() + 1 }]],
  [/\bon the (\d{1,2})(?:st|nd|rd|th)\b(?!\s+of\b)/gi, dayOfMonth],
  [
    /(?<![月\d一二三四五六七八九十])(\d{1,2}|[一二三四五六七八九十]{1,3})号(?![线楼门院店厅馆机])/g,
    dayOfMonth,
  ],
];

/**
 * Returns the dates to which the relative expressions in a text refer. Weeks begin on Monday. A week is returned as
 * seven days.
 *
 * @param today the day on which the text was written
 */
export function relativeDays(text: string, today: Date): DateParts[] {
  return EXPRESSIONS.flatMap(([pattern, resolve]) =>
    [...text.matchAll(pattern)].flatMap(([, ...groups]) => resolve(groups, today)),
  );
}

function days(offset: number): Resolve {
  return (_, today) => [day(today, offset)];
}

function day(today: Date, offset: number): DateParts {
  const date = new Date(today.getFullYear(), today.getMonth(), today.getDate() + offset);
  return { year: date.getFullYear(), month: date.getMonth() + 1, day: date.getDate() };
}

function week(today: Date, offset: number): DateParts[] {
  const monday = -((today.getDay() + DAYS_IN_WEEK - 1) % DAYS_IN_WEEK) + offset * DAYS_IN_WEEK;
  return Array.from({ length: DAYS_IN_WEEK }, (_, place) => day(today, monday + place));
}

function month(today: Date, offset: number): DateParts {
  const date = new Date(today.getFullYear(), today.getMonth() + offset, 1);
  return { year: date.getFullYear(), month: date.getMonth() + 1 };
}

/** "On the 9th" may refer to the last one or the next one. */
function dayOfMonth([text]: readonly string[], today: Date): DateParts[] {
  const wanted = numberOf(text);
  if (wanted < 1 || wanted > 31) return [];
  const [previous, coming] = wanted <= today.getDate() ? [0, 1] : [-1, 0];
  return [previous, coming].map((offset) => ({ ...month(today, offset), day: wanted }));
}

function offsetOf(which = ""): number {
  switch (which.toLowerCase()) {
    case "last":
    case "上":
      return -1;
    case "上上":
      return -2;
    case "next":
    case "下":
      return 1;
    case "下下":
      return 2;
    default:
      return 0;
  }
}

function numberOf(text = ""): number {
  const word = text.toLowerCase();
  if (word === "a" || word === "an") return 1;
  if (/^\d+$/.test(word)) return Number(word);
  return word === "两" ? 2 : Math.max(NUMBERS.indexOf(word), chineseNumber(word), 0);
}
