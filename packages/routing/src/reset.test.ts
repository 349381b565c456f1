import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isResetDue } from "./reset.ts";

const at = (text: string) => Date.parse(text);
const daily = (timeZone: string, hour = 4) => ({ mode: "daily", hour, timeZone }) as const;
const due = (policy: Parameters<typeof isResetDue>[0], last: string, now: string) =>
  isResetDue(policy, { lastMessageAt: at(last), now: at(now) });

describe("isResetDue", () => {
  it("is false for a new session, and without a policy", () => {
    expect(isResetDue({ mode: "idle", minutes: 1 }, { now: at("2026-11-21T00:00:00Z") })).toBe(false);
    expect(due({ mode: "none" }, "1990-01-01T00:00:00Z", "2026-11-21T00:00:00Z")).toBe(false);
  });

  it("is true after the idle minutes", () => {
    const idle = { mode: "idle", minutes: 30 } as const;
    expect(due(idle, "2026-11-21T10:00:00.000Z", "2026-11-21T10:29:59.999Z")).toBe(false);
    expect(due(idle, "2026-11-21T10:00:00.000Z", "2026-11-21T10:30:00.000Z")).toBe(true);
    // A clock that was set back does not cause a reset.
    expect(due(idle, "2026-11-21T10:00:00Z", "2026-11-21T08:00:00Z")).toBe(false);
  });

  it("is true after the hour in the time zone", () => {
    const shanghai = daily("Asia/Shanghai");
    expect(due(shanghai, "2026-11-21T03:59:59+08:00", "2026-11-21T04:00:00+08:00")).toBe(true);
    expect(due(shanghai, "2026-11-21T03:00:00+08:00", "2026-11-21T03:59:59+08:00")).toBe(false);
    expect(due(shanghai, "2026-11-21T04:00:00+08:00", "2026-11-22T03:59:59+08:00")).toBe(false);
    expect(due(shanghai, "2026-11-21T04:00:00+08:00", "2026-11-22T04:00:00+08:00")).toBe(true);
    expect(due(shanghai, "2026-11-01T12:00:00+08:00", "2026-11-21T01:00:00+08:00")).toBe(true);
    expect(due(daily("UTC", 0), "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z")).toBe(true);
    expect(due(daily("Asia/Kathmandu"), "2026-11-21T03:59:59+05:45", "2026-11-21T04:00:00+05:45")).toBe(true);
  });

  it("is true from the clock change on if the hour is skipped", () => {
    // In New York, the clocks go from 02:00 to 03:00 on 8 March 2026.
    const policy = daily("America/New_York", 2);
    expect(due(policy, "2026-03-08T01:59:00-05:00", "2026-03-08T01:59:59-05:00")).toBe(false);
    expect(due(policy, "2026-03-08T01:59:59-05:00", "2026-03-08T03:00:00-04:00")).toBe(true);
    expect(due(policy, "2026-03-08T03:00:00-04:00", "2026-03-09T01:59:59-04:00")).toBe(false);
    expect(due(policy, "2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00")).toBe(true);
  });

  it("is true only at the first occurrence if the hour occurs twice", () => {
    // In New York, the clocks go from 02:00 back to 01:00 on 1 November 2026.
    const policy = daily("America/New_York", 1);
    expect(due(policy, "2026-11-01T00:59:59-04:00", "2026-11-01T01:00:00-04:00")).toBe(true);
    expect(due(policy, "2026-11-01T01:00:00-04:00", "2026-11-01T01:00:00-05:00")).toBe(false);
    expect(due(policy, "2026-11-01T01:30:00-05:00", "2026-11-02T00:59:59-05:00")).toBe(false);
  });

  it("is true about once a day, in every zone and at every hour", () => {
    const zones = [
      "UTC",
      "America/New_York",
      "Australia/Lord_Howe",
      "Asia/Tehran",
      "America/St_Johns",
      "Pacific/Chatham",
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.nat(23),
        fc.integer({ min: at("2020-01-01"), max: at("2030-01-01") }),
        (zone, hour, start) => {
          const policy = daily(zone, hour);
          let resets = 0;
          let last = start;
          for (let now = start; now < start + 30 * 86_400_000; now += 1_800_000) {
            if (isResetDue(policy, { lastMessageAt: last, now })) resets++;
            last = now;
          }
          expect(resets).toBeGreaterThanOrEqual(29);
          expect(resets).toBeLessThanOrEqual(31);
        },
      ),
      { numRuns: 15 },
    );
  });

  it("uses the machine's time zone by default", () => {
    const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const now = at("2026-11-21T12:00:00Z");
    for (let hour = 0; hour < 24; hour++) {
      const times = { lastMessageAt: now - 43_200_000, now };
      expect(isResetDue({ mode: "daily", hour }, times)).toBe(isResetDue(daily(here, hour), times));
    }
  });

  it("throws for a time zone that does not exist", () => {
    expect(() => due(daily("Mars/Olympus"), "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")).toThrow(
      RangeError,
    );
  });
});
