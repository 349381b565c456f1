import { describe, expect, it } from "vitest";
import { type DayUsage, OTHERS, toCourse } from "./course.ts";

const NOW = Date.parse("2026-11-21T15:00:00Z");

const point = (day: string, name: string, costMicros: number): DayUsage => ({
  day,
  name,
  usage: { runs: 1, inputTokens: 10, outputTokens: 5, costMicros },
});

describe("the course of usage over time", () => {
  it("has one entry for each day of the period, including days without usage", () => {
    const course = toCourse([point("2026-11-19", "coder", 3)], "cost", 4, NOW);
    expect(course.days.map(({ day }) => day)).toEqual([
      "2026-11-18",
      "2026-11-19",
      "2026-11-20",
      "2026-11-21",
    ]);
    expect(course.days.map(({ values }) => Object.values(values)[0])).toEqual([
      undefined,
      3,
      undefined,
      undefined,
    ]);
  });

  it("starts with the first day with usage if the period is unlimited", () => {
    const course = toCourse([point("2026-11-20", "coder", 3)], "runs", "all", NOW);
    expect(course.days.map(({ day }) => day)).toEqual(["2026-11-20", "2026-11-21"]);
  });

  it("sorts the series by size and adds up the smallest ones", () => {
    const points = Array.from({ length: 9 }, (_, place) => point("2026-11-21", `agent ${place}`, place + 1));
    const course = toCourse(points, "cost", 1, NOW);
    expect(course.names).toHaveLength(7);
    expect(course.labels.get(course.names[0] ?? "")).toBe("agent 8");
    expect(course.names.at(-1)).toBe(OTHERS);
    expect(course.days[0]?.values[OTHERS]).toBe(1 + 2 + 3);
  });

  it("never uses a name from outside as a key", () => {
    const course = toCourse([point("2026-11-21", "__proto__", 7)], "cost", 1, NOW);
    expect(course.names).toEqual(["series 0"]);
    expect(course.days[0]?.values).toEqual({ "series 0": 7 });
  });

  it("shortens long names in the legend", () => {
    const { labels } = toCourse([point("2026-11-21", "x".repeat(500), 7)], "cost", 1, NOW);
    expect([...labels.values()]).toEqual([`${"x".repeat(31)}…`]);
  });

  it("ignores groups that are not days", () => {
    expect(toCourse([point("<script>", "coder", 3)], "cost", 1, NOW).names).toEqual([]);
  });
});
