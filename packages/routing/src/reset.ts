import type { PeerKind } from "./peer.ts";

/** The rule that determines when a conversation starts a new session. */
export type ResetPolicy =
  | { readonly mode: "none" }
  /** Every day at this hour, 0 to 23, in an IANA time zone. Default: the machine's time zone. */
  | { readonly mode: "daily"; readonly hour: number; readonly timeZone?: string | undefined }
  /** After this many minutes without a message. */
  | { readonly mode: "idle"; readonly minutes: number };

/** A policy for each kind of conversation. `default` applies to kinds without one. */
export interface ResetPolicies {
  readonly default: ResetPolicy;
  readonly direct?: ResetPolicy | undefined;
  readonly group?: ResetPolicy | undefined;
  readonly channel?: ResetPolicy | undefined;
}

/** Times in milliseconds since the epoch. */
export interface ResetTimes {
  /** Arrival time of the session's last message. Absent for a new session. */
  readonly lastMessageAt?: number | undefined;
  readonly now: number;
}

const DAY = 86_400_000;

/** Returns the policy for a kind of conversation. Default: never reset. */
export function getResetPolicy(policies: ResetPolicies | undefined, kind: PeerKind): ResetPolicy {
  return policies?.[kind] ?? policies?.default ?? { mode: "none" };
}

/**
 * Returns true if a message that arrives now starts a new session. A session without messages is never reset. If a
 * clock change skips the hour of a daily policy, the boundary is the moment of the change. If the hour occurs twice,
 * the boundary is the first occurrence.
 *
 * @throws RangeError if the time zone does not exist; `checkBindings` reports those
 */
export function isResetDue(policy: ResetPolicy, { lastMessageAt, now }: ResetTimes): boolean {
  if (lastMessageAt === undefined) return false;
  switch (policy.mode) {
    case "none":
      return false;
    case "idle":
      return now - lastMessageAt >= policy.minutes * 60_000;
    case "daily":
      return lastMessageAt < getLastBoundary(policy.hour, policy.timeZone, now);
  }
}

/** Returns the last instant, at or before `now`, at which the local time of a zone reached the hour. */
function getLastBoundary(hour: number, timeZone: string | undefined, now: number): number {
  const today = getLocalMidnight(now, timeZone);
  const boundary = getFirstInstant(today + hour * 3_600_000, timeZone);
  return boundary <= now ? boundary : getFirstInstant(today - DAY + hour * 3_600_000, timeZone);
}

/** Returns midnight of an instant's local day, as if the zone were UTC. */
function getLocalMidnight(instant: number, timeZone: string | undefined): number {
  const local = instant + getUtcOffset(instant, timeZone);
  return local - (((local % DAY) + DAY) % DAY);
}

/** Returns the first instant at which the local time of a zone is this time or later. */
function getFirstInstant(local: number, timeZone: string | undefined): number {
  // The offsets one day before and after enclose any clock change. The larger one gives the earlier instant.
  const before = getUtcOffset(local - DAY, timeZone);
  const after = getUtcOffset(local + DAY, timeZone);
  const early = local - Math.max(before, after);
  const late = local - Math.min(before, after);
  if (early + getUtcOffset(early, timeZone) >= local) return early;
  if (late + getUtcOffset(late, timeZone) === local) return late;
  // The clocks skip this time. Search for the moment of the change between the two instants.
  let low = early;
  let high = late;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (middle + getUtcOffset(middle, timeZone) >= local) high = middle;
    else low = middle;
  }
  return high;
}

const formats = new Map<string | undefined, Intl.DateTimeFormat>();

/** Returns how far a zone is ahead of UTC at an instant, in milliseconds. */
function getUtcOffset(instant: number, timeZone: string | undefined): number {
  let format = formats.get(timeZone);
  if (format === undefined) {
    // Creating a format is far more expensive than using it, and there are only a few time zones.
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      calendar: "iso8601",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(timeZone, format);
  }
  const part: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(instant)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  const local = Date.UTC(year, month - 1, day, hour, minute, second);
  return local - Math.floor(instant / 1000) * 1000;
}

/** Returns true if the runtime supports a time zone. */
export function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone });
    return true;
  } catch {
    return false;
  }
}
