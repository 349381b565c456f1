import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCommandNames } from "./commands.ts";

describe("createCommandNames", () => {
  it("returns unique names of at most 32 characters", () => {
    const getName = createCommandNames(["help"]);
    const long = "a".repeat(40);
    expect(["weather", "wea-ther", "wea.ther", "help", long, `${long}b`].map(getName)).toEqual([
      "weather",
      "wea_ther",
      "wea_ther_2",
      "help_2",
      "a".repeat(32),
      `${"a".repeat(30)}_2`,
    ]);
  });

  it("names a skill without Latin letters by a hash", () => {
    const name = createCommandNames([])("天气");
    expect(name).toMatch(/^skill_[0-9a-f]{6}$/);
    const other = createCommandNames([]);
    other("网页");
    expect(other("天气")).toBe(name);
  });

  it("never returns the same name twice", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 50 })), (ids) => {
        const names = ids.map(createCommandNames(["skill", "new"]));
        expect(new Set([...names, "skill", "new"]).size).toBe(names.length + 2);
        for (const name of names) expect(name).toMatch(/^[a-z0-9_]{1,32}$/);
      }),
    );
  });
});
