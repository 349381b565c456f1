import { expect, test } from "vitest";
import type { DateParts } from "./date-parts.ts";
import { relativeDays } from "./relative-dates.ts";

/** A Wednesday. */
const TODAY = new Date(2026, 2, 11, 12);

const write = ({ year, month, day }: DateParts): string =>
  [year, month, day]
    .filter((part) => part !== undefined)
    .map((part) => String(part).padStart(2, "0"))
    .join("-");

test.each([
  ["what did we decide on Monday?", "2026-03-09 2026-03-16"],
  ["the Friday meeting", "2026-03-06 2026-03-13"],
  ["last Monday", "2026-03-09"],
  ["do I have a class every Monday?", ""],
  ["last night", "2026-03-10"],
  ["a few days ago", "2026-03-06 2026-03-07 2026-03-08 2026-03-09"],
  ["a couple of days ago", "2026-03-08 2026-03-09"],
  ["in the last two days", "2026-03-09 2026-03-10 2026-03-11"],
  ["three months ago", "2025-12"],
  ["two years ago", "2024"],
  ["half a year ago", "2025-09"],
  ["on the 15th of last month", "2026-02-15"],
  ["周一的会", "2026-03-09 2026-03-16"],
  ["星期天去哪", "2026-03-08 2026-03-15"],
  ["每周一都开会吗", ""],
  ["上週二", "2026-03-03"],
  ["上上个月", "2026-01"],
  ["上个月15号", "2026-02-15"],
  ["三个月前", "2025-12"],
  ["两年前", "2024"],
  ["半年前", "2025-09"],
  ["前两天", "2026-03-06 2026-03-07 2026-03-08 2026-03-09 2026-03-10"],
  ["最近两天", "2026-03-09 2026-03-10 2026-03-11"],
  ["两天之前", "2026-03-09"],
  ["後天", "2026-03-13"],
  ["月底", "2026-03"],
  ["昨夜", "2026-03-10"],
])("%j refers to %j", (text, dates) => {
  expect(relativeDays(text, TODAY).map(write).toSorted().join(" ")).toBe(dates);
});

test.each([
  ["the week before last", "2026-02-23", "2026-03-01"],
  ["a fortnight ago", "2026-02-23", "2026-03-01"],
  ["上上周", "2026-02-23", "2026-03-01"],
  ["两个礼拜以前", "2026-02-23", "2026-03-01"],
  ["半个月前", "2026-02-22", "2026-02-26"],
])("%j refers to the days from %s to %s", (text, first, last) => {
  const found = relativeDays(text, TODAY).map(write);
  expect([found[0], found.at(-1)]).toEqual([first, last]);
});
