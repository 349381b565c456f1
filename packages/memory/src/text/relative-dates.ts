import { chineseNumber, type DateParts } from "./date-parts.ts";

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const ZH_WEEKDAYS = "日一二三四五六";
const NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const DAYS_IN_WEEK = 7;

const NUMBER = `(\\d{1,3}|an?|${NUMBERS.join("|")})`;
const SEVERAL = "(couple of|few|several)";
const WEEKDAY = `(${WEEKDAYS.join("|")})`;
const ZH_NUMBER = "(\\d{1,3}|[一二两兩三四五六七八九十]{1,3})";
const ZH_WEEK = "(?:个|個)?(?:周|週|星期|礼拜|禮拜)";
const ZH_AGO = "(?:以|之)?前";
const ZH_WHICH = "上上|下下|[上这這本下]";

/** Returns the dates to which a matched expression refers. */
type Resolve = (groups: readonly string[], today: Date) => readonly DateParts[];

const EXPRESSIONS: readonly (readonly [RegExp, Resolve])[] = [
  [/\b(?:today|tonight|this (?:morning|afternoon|evening))\b|今天|今日|今晚|今早|今晨|今儿/gi, days(0)],
  [/\b(?<!day before )yesterday\b|\blast night\b|昨天|昨日|昨晚|昨夜|昨儿/gi, days(-1)],
  [/\b(?<!day after )tomorrow\b|明天|明日|明晚|明早|明儿/gi, days(1)],
  [/\bday before yesterday\b|(?<!大)前天|前日|前晚/gi, days(-2)],
  [/\bday after tomorrow\b|(?<!大)[后後]天/gi, days(2)],
  [/大前天/g, days(-3)],
  [/大[后後]天/g, days(3)],
  [/\bthe other day\b|[前这這][几幾些]天|(?:前|这|這)[两兩]天/gi, (_, today) => range(today, -5, -1)],
  [new RegExp(`\\b${NUMBER} days? ago\\b`, "gi"), ([n], today) => [day(today, -numberOf(n))]],
  [new RegExp(`\\b${SEVERAL} days ago\\b`, "gi"), ([n], today) => range(today, -atMost(n), -2)],
  [new RegExp(`\\bin ${NUMBER} days?\\b`, "gi"), ([n], today) => [day(today, numberOf(n))]],
  [
    new RegExp(`\\b(?:past|last) (?:${NUMBER}|${SEVERAL}) days\\b`, "gi"),
    ([n, several], today) => range(today, -(n === undefined ? atMost(several) : numberOf(n)), 0),
  ],
  [new RegExp(`(?:过去|過去|最近|近)${ZH_NUMBER}天`, "g"), ([n], today) => range(today, -numberOf(n), 0)],
  [new RegExp(`${ZH_NUMBER}天${ZH_AGO}`, "g"), ([n], today) => [day(today, -numberOf(n))]],
  [new RegExp(`${ZH_NUMBER}天(?:以|之)?[后後]`, "g"), ([n], today) => [day(today, numberOf(n))]],
  [new RegExp(`\\b${NUMBER} weeks? ago\\b`, "gi"), ([n], today) => week(today, -numberOf(n))],
  [
    new RegExp(`\\b${SEVERAL} weeks ago\\b`, "gi"),
    ([n], today) => [-2, ...(atMost(n) > 2 ? [-3] : [])].flatMap((offset) => week(today, offset)),
  ],
  [/\bfortnight ago\b|\bweek before last\b/gi, (_, today) => week(today, -2)],
  [/半(?:个|個)?月(?:以|之)?前/g, (_, today) => range(today, -17, -13)],
  [new RegExp(`${ZH_NUMBER}${ZH_WEEK}${ZH_AGO}`, "g"), ([n], today) => week(today, -numberOf(n))],
  [/\b(last|this|next) week\b/gi, ([which], today) => week(today, offsetOf(which))],
  [/\b(last|this|next) weekend\b/gi, ([which], today) => week(today, offsetOf(which)).slice(-2)],
  [
    new RegExp(`(${ZH_WHICH})${ZH_WEEK}(末|[${ZH_WEEKDAYS}天])?`, "g"),
    ([which, weekday = ""], today) => {
      const found = week(today, offsetOf(which));
      if (weekday === "") return found;
      if (weekday === "末") return found.slice(-2);
      const place = "一二三四五六日".indexOf(weekday === "天" ? "日" : weekday);
      return found.slice(place, place + 1);
    },
  ],
  [
    new RegExp(`\\b(last|next) ${WEEKDAY}\\b`, "gi"),
    ([which = "", name = ""], today) => {
      const { back, ahead } = around(today, WEEKDAYS.indexOf(name.toLowerCase()));
      return [day(today, which.toLowerCase() === "next" ? ahead : back)];
    },
  ],
  [
    new RegExp(`\\b(?<!\\b(?:last|next|every|each) )${WEEKDAY}\\b`, "gi"),
    ([name = ""], today) => eitherSide(today, WEEKDAYS.indexOf(name.toLowerCase())),
  ],
  [
    new RegExp(`(?<![上下这這本每个個])(?:周|週|星期|礼拜|禮拜)([${ZH_WEEKDAYS}天])`, "g"),
    ([name = ""], today) => eitherSide(today, ZH_WEEKDAYS.indexOf(name === "天" ? "日" : name)),
  ],
  [
    /\bthe (\d{1,2})(?:st|nd|rd|th) of (last|this|next) month\b/gi,
    ([n, which], today) => dayOf(month(today, offsetOf(which)), n),
  ],
  [
    new RegExp(`(${ZH_WHICH})[个個]?月(\\d{1,2}|[一二三四五六七八九十]{1,3})[号號日]`, "g"),
    ([which, n], today) => dayOf(month(today, offsetOf(which)), n),
  ],
  [
    /\b(?<!(?:st|nd|rd|th) of )(last|this|next) month\b/gi,
    ([which], today) => [month(today, offsetOf(which))],
  ],
  [
    new RegExp(`(${ZH_WHICH})[个個]?月(?!(?:\\d{1,2}|[一二三四五六七八九十]{1,3})[号號日])`, "g"),
    ([which], today) => [month(today, offsetOf(which))],
  ],
  [/(?<![上下个個年岁蜜\d一二三四五六七八九十])月[初底末中]/g, (_, today) => [month(today, 0)]],
  [new RegExp(`\\b${NUMBER} months? ago\\b`, "gi"), ([n], today) => [month(today, -numberOf(n))]],
  [new RegExp(`${ZH_NUMBER}[个個]月${ZH_AGO}`, "g"), ([n], today) => [month(today, -numberOf(n))]],
  [/\bhalf a year ago\b|半年(?:以|之)?前/gi, (_, today) => [month(today, -6)]],
  [/\b(last|this|next) year\b/gi, ([which], today) => [{ year: today.getFullYear() + offsetOf(which) }]],
  [
    new RegExp(`\\b(?<!half )${NUMBER} years? ago\\b`, "gi"),
    ([n], today) => [{ year: today.getFullYear() - numberOf(n) }],
  ],
  [new RegExp(`${ZH_NUMBER}年${ZH_AGO}`, "g"), ([n], today) => [{ year: today.getFullYear() - numberOf(n) }]],
  [/前年/g, (_, today) => [{ year: today.getFullYear() - 2 }]],
  [/去年/g, (_, today) => [{ year: today.getFullYear() - 1 }]],
  [/今年/g, (_, today) => [{ year: today.getFullYear() }]],
  [/明年/g, (_, today) => [{ year: today.getFullYear() + 1 }]],
  [/\bon the (\d{1,2})(?:st|nd|rd|th)\b(?!\s+of\b)/gi, dayOfMonth],
  [
    /(?<![月\d一二三四五六七八九十])(\d{1,2}|[一二三四五六七八九十]{1,3})[号號](?![线楼门院店厅馆机])/g,
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

/** Returns the days from one offset to another. */
function range(today: Date, from: number, to: number): DateParts[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, place) => day(today, from + place));
}

/** Returns the offsets of the previous and the next day with this weekday. Sunday is 0. */
function around(today: Date, weekday: number): { readonly back: number; readonly ahead: number } {
  const distance = weekday - today.getDay();
  return {
    ahead: ((distance + DAYS_IN_WEEK - 1) % DAYS_IN_WEEK) + 1,
    back: ((distance + DAYS_IN_WEEK) % DAYS_IN_WEEK) - DAYS_IN_WEEK,
  };
}

/** "On Monday" may refer to the last one or the next one. */
function eitherSide(today: Date, weekday: number): DateParts[] {
  const { back, ahead } = around(today, weekday);
  return [back, ahead].map((offset) => day(today, offset));
}

function dayOf(date: DateParts, text: string | undefined): DateParts[] {
  const wanted = numberOf(text);
  return wanted < 1 || wanted > 31 ? [date] : [{ ...date, day: wanted }];
}

/** Maximum number that a word such as "few" stands for. */
function atMost(word = ""): number {
  return word.toLowerCase() === "couple of" ? 3 : 5;
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
  return word === "两" || word === "兩" ? 2 : Math.max(NUMBERS.indexOf(word), chineseNumber(word), 0);
}
