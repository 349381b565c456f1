import { isTimeZone } from "@signalbox/config";
import { Cron, type CronOptions } from "croner";
import { getMachineTimeZone } from "../../machine-time-zone.ts";

/** Times at which something is due. All times are milliseconds since the epoch. */
export type When =
  | { readonly kind: "at"; readonly at: number }
  /** Intervals are counted from `from`, so that a late occurrence does not delay the next ones. */
  | { readonly kind: "every"; readonly everyMs: number; readonly from: number }
  /** Cron expression with five fields, or six with seconds first, in an IANA time zone. Default: the machine's zone. */
  | { readonly kind: "cron"; readonly expression: string; readonly zone?: string };

/** A time in the form in which people and models write it. Exactly one of `at`, `in`, `every` and `cron` is set. */
export interface WrittenWhen {
  /** `2026-12-24T18:00` in the time zone, or with its own UTC offset. */
  readonly at?: string;
  /** `10m`, `2h 30m`, `1d`. */
  readonly in?: string;
  readonly every?: string;
  readonly cron?: string;
  /** IANA time zone, for example `Europe/Berlin`. Default: the machine's time zone. */
  readonly zone?: string;
}

/** Thrown if a written time is not valid. The message contains an example of a valid form. */
export class WhenError extends Error {
  override readonly name = "WhenError";
}

const SHORTEST_MS = 60_000;
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns the first due time after `after`, if any. */
export function nextDue(when: When, after: number): number | undefined {
  switch (when.kind) {
    case "at":
      return when.at > after ? when.at : undefined;
    case "every": {
      const passed = Math.floor((after - when.from) / when.everyMs);
      return when.from + Math.max(passed + 1, 1) * when.everyMs;
    }
    case "cron":
      return parseCron(when.expression, when.zone).nextRun(new Date(after))?.getTime();
  }
}

/**
 * Parses a written time.
 *
 * @throws WhenError if it is invalid, has already passed, or occurs more often than once a minute
 */
export function readWhen(written: WrittenWhen, now: number): When {
  const { zone } = written;
  const given = (["at", "in", "every", "cron"] as const).filter((key) => written[key] !== undefined);
  const [kind] = given;
  if (kind === undefined || given.length > 1)
    throw new WhenError("Give exactly one of at, in, every and cron.");
  if (zone !== undefined && !isTimeZone(zone)) throw new WhenError(describeUnknownZone(zone));
  const text = written[kind] ?? "";
  switch (kind) {
    case "at": {
      const at = parseTime(text, zone, now);
      if (at === undefined || Number.isNaN(at) || at <= now)
        throw new WhenError(
          `"${text}" is not a future time. Write it as 2026-12-24T18:00, with a zone or an offset.`,
        );
      return { kind: "at", at };
    }
    case "in":
      return { kind: "at", at: now + parseDuration(text) };
    case "every": {
      const everyMs = parseDuration(text);
      if (everyMs < SHORTEST_MS)
        throw new WhenError(`"${text}" is too often: the shortest interval is one minute.`);
      return { kind: "every", everyMs, from: now };
    }
    case "cron": {
      const dates = parseCron(text, zone).nextRuns(10, new Date(now));
      if (dates.length === 0) throw new WhenError(`"${text}" never comes.`);
      const gaps = dates.slice(1).map((date, index) => date.getTime() - (dates[index]?.getTime() ?? 0));
      if (gaps.some((gap) => gap < SHORTEST_MS))
        throw new WhenError(`"${text}" is too often: the shortest interval is one minute.`);
      return { kind: "cron", expression: text, zone };
    }
  }
}

/** Describes the times in words, for lists. */
export function describeWhen(when: When): string {
  switch (when.kind) {
    case "at":
      return `at ${new Date(when.at).toISOString()}`;
    case "every":
      return `every ${describeDuration(when.everyMs)}`;
    case "cron":
      return `${when.expression}${when.zone === undefined ? "" : ` (${when.zone})`}`;
  }
}

/** Parses a date and time, in `zone` unless it has an offset. Returns undefined if it is invalid or in the past. */
function parseTime(text: string, zone: string | undefined, now: number): number | undefined {
  const [, day] = /^(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d/i.exec(text) ?? [];
  if (day === undefined || !isDay(day)) return undefined;
  if (/(?:Z|[+-]\d\d:?\d\d)$/i.test(text)) return Date.parse(text);
  try {
    return new Cron(text, settings(zone)).nextRun(new Date(now))?.getTime();
  } catch {
    return undefined;
  }
}

/** Returns true if the date exists. `Date` converts 30 February to a day in March. */
function isDay(text: string): boolean {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

function parseCron(expression: string, zone: string | undefined): Cron {
  try {
    return new Cron(expression, settings(zone));
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).replace(/^CronPattern: /, "");
    throw new WhenError(
      `"${expression}" is not a cron expression: ${why.replace(/\.?$/, ".")} One reads like "0 9 * * 1-5".`,
    );
  }
}

function settings(zone = getMachineTimeZone().name): CronOptions {
  return { paused: true, timezone: zone };
}

/** Abbreviations that denote different time zones in different parts of the world. */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  CST: "America/Chicago, America/Havana or Asia/Shanghai",
  IST: "Asia/Kolkata, Asia/Jerusalem or Europe/Dublin",
  BST: "Europe/London or Asia/Dhaka",
  EST: "America/New_York or America/Panama",
  AST: "America/Halifax or Asia/Riyadh",
};

function describeUnknownZone(zone: string): string {
  const meanings = ABBREVIATIONS[zone.toUpperCase()];
  return meanings === undefined
    ? `There is no time zone ${zone}. Write one like Europe/Berlin or Asia/Shanghai.`
    : `"${zone}" can mean ${meanings}. Use one of these names, and ask the person if you are not sure which.`;
}

function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*([smhd])/g)];
  const rest = text.replaceAll(/(\d+(?:\.\d+)?)\s*([smhd])/g, "").trim();
  const ms = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ""] ?? 0), 0);
  if (rest !== "" || ms <= 0 || ms > 366 * 86_400_000)
    throw new WhenError(`"${text}" is not a duration. Write it as 10m, 2h 30m or 1d, at most a year.`);
  return ms;
}

function describeDuration(ms: number): string {
  let left = ms;
  const parts: string[] = [];
  for (const [unit, size] of Object.entries(UNITS).toReversed()) {
    const count = Math.floor(left / size);
    if (count > 0) parts.push(`${count}${unit}`);
    left -= count * size;
  }
  return parts.join(" ");
}
