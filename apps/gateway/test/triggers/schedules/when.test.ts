import { describe, expect, it } from "vitest";
import { describeWhen, nextDue, readWhen, WhenError } from "../../../src/triggers/schedules/when.ts";

const NOW = Date.UTC(2026, 2, 28, 12);
const iso = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString();

describe("a time that somebody wrote", () => {
  it.each([
    [{ at: "2026-04-01T09:00", zone: "Europe/Berlin" }, "2026-04-01T07:00:00.000Z"],
    [{ at: "2026-04-01T09:00:00+08:00" }, "2026-04-01T01:00:00.000Z"],
    [{ at: "2026-04-01T09:00z", zone: "Europe/Berlin" }, "2026-04-01T09:00:00.000Z"],
    [{ in: "1h 30m" }, "2026-03-28T13:30:00.000Z"],
    [{ every: "2h" }, "2026-03-28T14:00:00.000Z"],
    [{ cron: "0 9 * * 1-5", zone: "Asia/Shanghai" }, "2026-03-30T01:00:00.000Z"],
  ])("%o is due at %s", (written, due) => {
    expect(iso(nextDue(readWhen(written, NOW), NOW))).toBe(due);
  });

  it.each([
    [{}, /exactly one/],
    [{ in: "1m", every: "1m" }, /exactly one/],
    [{ at: "2020-01-01T00:00" }, /not a future time/],
    [{ at: "soon" }, /^"soon" is not a future time\. Write it as 2026-/],
    [{ at: "0 9 * * *" }, /not a future time/],
    [{ at: "2026-13-45T09:00" }, /not a future time/],
    [{ at: "2026-12-24" }, /not a future time/],
    [{ at: "12-24-2026" }, /not a future time/],
    [{ at: "2027-02-30T10:00" }, /not a future time/],
    [{ at: "2027-02-30T10:00Z" }, /not a future time/],
    [{ at: "2026-04-01T09:00", zone: "Mars/Olympus" }, /^There is no time zone Mars\/Olympus/],
    [{ in: "a while" }, /not a duration/],
    [{ in: "0m" }, /not a duration/],
    [{ every: "10s" }, /too often/],
    [{ cron: "* * * * * *" }, /too often/],
    [
      { cron: "99 * * * *" },
      /^"99 \* \* \* \*" is not a cron expression: Invalid value for minute: 99\. One reads/,
    ],
    [{ cron: "soon" }, /^"soon" is not a cron expression: /],
    [{ cron: "0 0 30 2 *" }, /never comes/],
    [
      { cron: "0 9 * * *", zone: "CST" },
      /^"CST" can mean America\/Chicago, America\/Havana or Asia\/Shanghai\./,
    ],
    [{ at: "2026-12-24T18:00", zone: "ist" }, /^"ist" can mean Asia\/Kolkata, /],
    [{ cron: "0 9 * * *", zone: "PST" }, /^There is no time zone PST\. Write one like /],
    [{ cron: "0 9 * * *", zone: "Mars/Olympus" }, /^There is no time zone Mars\/Olympus\. Write/],
  ])("%o is refused", (written, message) => {
    expect(() => readWhen(written, NOW)).toThrow(WhenError);
    expect(() => readWhen(written, NOW)).toThrow(message);
  });

  it("comes once a day through both changes of summer time", () => {
    const daily = readWhen({ cron: "30 2 * * *", zone: "Europe/Berlin" }, NOW);
    const days = (from: number): string[] => {
      const found: string[] = [];
      for (let at = nextDue(daily, from); at !== undefined && found.length < 4; at = nextDue(daily, at))
        found.push(
          new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Berlin", dateStyle: "short" }).format(at),
        );
      return found;
    };
    expect(days(Date.UTC(2026, 2, 27, 12))).toEqual(["2026-03-28", "2026-03-29", "2026-03-30", "2026-03-31"]);
    expect(days(Date.UTC(2026, 9, 23, 12))).toEqual(["2026-10-24", "2026-10-25", "2026-10-26", "2026-10-27"]);
  });

  it("is told in words", () => {
    expect(describeWhen(readWhen({ every: "1h 30m" }, NOW))).toBe("every 1h 30m");
    expect(describeWhen(readWhen({ cron: "0 9 * * *", zone: "Asia/Tokyo" }, NOW))).toBe(
      "0 9 * * * (Asia/Tokyo)",
    );
  });
});
