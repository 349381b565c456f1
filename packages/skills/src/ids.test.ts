import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commandNamer, oneLine, toSkillId } from "./ids.ts";

describe("toSkillId", () => {
  it.each([
    ["create-python-script", "create-python-script"],
    ["Web Search", "web-search"],
    ["../../etc/passwd", "etc-passwd"],
    ["创建脚本", "创建脚本"],
    ["ｆｕｌｌ", "full"],
    [".hidden", "hidden"],
  ])("makes %j into %j", (name, id) => {
    expect(toSkillId(name)).toBe(id);
  });

  it.each(["", "..", "---", "🙂", "/"])("finds nothing in %j", (name) => {
    expect(toSkillId(name)).toBeUndefined();
  });

  it("gives names that are safe as folders, and stays with them", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 100 }), (name) => {
        const id = toSkillId(name);
        if (id === undefined) return;
        expect(id).toMatch(/^[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}._-]*$/u);
        expect(id.endsWith(".")).toBe(false);
        expect([...id].length).toBeLessThanOrEqual(64);
        expect(toSkillId(id)).toBe(id);
      }),
      { numRuns: 2_000 },
    );
  });
});

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

describe("oneLine", () => {
  it("does not cut a character in two", () => {
    expect(oneLine("a🙂🙂", 4)).toBe("a🙂…");
    expect(oneLine("a🙂🙂", 3)).toBe("a…");
    expect(oneLine(" a\n\tb\u0000c ", 10)).toBe("a b c");
  });
});
