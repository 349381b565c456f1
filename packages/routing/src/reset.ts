import type { PeerKind } from "./peer.ts";

/** When a conversation starts afresh. */
export type ResetPolicy =
  | { readonly mode: "none" }
  /** Every day at this hour, 0 to 23, in an IANA time zone; without one, in the machine's. */
  | { readonly mode: "daily"; readonly hour: number; readonly timeZone?: string | undefined }
  /** After this many minutes without a message. */
  | { readonly mode: "idle"; readonly minutes: number };

/** A policy for each kind of chat; `default` where a kind has none. */
export interface ResetPolicies {
  readonly default: ResetPolicy;
  readonly direct?: ResetPolicy | undefined;
  readonly group?: ResetPolicy | undefined;
  readonly channel?: ResetPolicy | undefined;
}

/** Times in milliseconds since 1970. */
export interface ResetTimes {
  /** When the last message of the session arrived; absent in a new session. */
  readonly lastMessageAt?: number | undefined;
  readonly now: number;
}

const DAY = 86_400_000;

/** The policy for a kind of chat. Without any, conversations never start afresh by themselves. */
export function resetPolicyFor(policies: ResetPolicies | undefined, kind: PeerKind): ResetPolicy {
  return policies?.[kind] ?? policies?.default ?? { mode: "none" };
}

/**
 * Whether a conversation starts afresh with a message that arrives now. A new conversation never does. On the day a
 * clock change skips the hour of a daily policy, the boundary is the moment of the change; where the hour comes
 * twice, it is the first.
 *
 * @throws RangeError for a time zone that does not exist; `checkBindings` finds those.
 */
export function isResetDue(policy: ResetPolicy, { lastMessageAt, now }: ResetTimes): boolean {
  if (lastMessageAt === undefined) return false;
  switch (policy.mode) {
    case "none":
      return false;
    case "idle":
      return now - lastMessageAt >= policy.minutes * 60_000;
    case "daily":
      return lastMessageAt < lastBoundary(policy.hour, policy.timeZone, now);
  }
}

/** The last time at or before `now` that the clocks of a zone reached the hour. */
function lastBoundary(hour: number, timeZone: string | undefined, now: number): number {
  const today = localDay(now, timeZone);
  const boundary = firstInstantAt(today + hour * 3_600_000, timeZone);
  return boundary <= now ? boundary : firstInstantAt(today - DAY + hour * 3_600_000, timeZone);
}

/** Midnight of the local day of an instant, as if the zone were UTC. */
function localDay(instant: number, timeZone: string | undefined): number {
  const local = instant + offset(instant, timeZone);
  return local - (((local % DAY) + DAY) % DAY);
}

/** The first instant at which the clocks of a zone show this time or a later one. */
function firstInstantAt(local: number, timeZone: string | undefined): number {
  // Offsets a day before and after bracket any clock change; the larger one gives the earlier instant.
  const before = offset(local - DAY, timeZone);
  const after = offset(local + DAY, timeZone);
  const early = local - Math.max(before, after);
  const late = local - Math.min(before, after);
  if (early + offset(early, timeZone) >= local) return early;
  if (late + offset(late, timeZone) === local) return late;
  // The clocks jump over this time: the boundary is the jump, somewhere between the two.
  let low = early;
  let high = late;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (middle + offset(middle, timeZone) >= local) high = middle;
    else low = middle;
  }
  return high;
}

const formats = new Map<string | undefined, Intl.DateTimeFormat>();

/** Milliseconds that the clocks of a zone are ahead of UTC at an instant. */
function offset(instant: number, timeZone: string | undefined): number {
  let format = formats.get(timeZone);
  if (format === undefined) {
    // Making one costs far more than using one; there are few zones.
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

/** Whether the platform knows a time zone. */
export function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone });
    return true;
  } catch {
    return false;
  }
}
