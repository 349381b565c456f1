import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commandNamer } from "./commands.ts";

describe("commandNamer", () => {
  it("gives each name once, within 32 characters", () => {
    const nameOf = commandNamer(["help"]);
    const long = "a".repeat(40);
    expect(["weather", "wea-ther", "wea.ther", "help", long, `${long}b`].map(nameOf)).toEqual([
      "weather",
      "wea_ther",
      "wea_ther_2",
      "help_2",
      "a".repeat(32),
      `${"a".repeat(30)}_2`,
    ]);
  });

  it("names what has no Latin letter by a digest, whatever comes before it", () => {
    const name = commandNamer([])("天气");
    expect(name).toMatch(/^skill_[0-9a-f]{6}$/);
    const other = commandNamer([]);
    other("网页");
    expect(other("天气")).toBe(name);
  });

  it("never repeats itself", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 50 })), (ids) => {
        const names = ids.map(commandNamer(["skill", "new"]));
        expect(new Set([...names, "skill", "new"]).size).toBe(names.length + 2);
        for (const name of names) expect(name).toMatch(/^[a-z0-9_]{1,32}$/);
      }),
    );
  });
});
