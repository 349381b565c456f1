import { describe, expect, it } from "vitest";
import { compileJsonSchema } from "./json-schema.ts";
import { safePattern } from "./pattern.ts";

describe("a pattern of a schema from anywhere", () => {
  it.each([
    "^(a+)+$",
    "^(a|a)+$",
    "^(a|aa)+$",
    "^(a*)*$",
    "^((a+)+)+$",
    "^(a?){60}a{60}$",
    `^${"a?".repeat(60)}${"a".repeat(60)}$`,
    `^${"(a|a)".repeat(60)}$`,
    "(a+)+$",
    "^([a-z]+)*\\1$",
    "^(?=(a+)+$)b",
    "(?<n>a+)+\\k<n>$",
    "a*a*a*a*a*b",
    "^(?:[\\](]a+)+$",
    "(?:a+)+(?:){300000000}b",
    "(?:(?:(?:){100000}){100000}){100000}",
    `${"a{0,255}".repeat(9)}b`,
    "^a+".repeat(20),
    "a{20000}b",
    "(",
  ])("is left alone where it could take for ever: %s", async (source) => {
    expect(safePattern(source)).toBeUndefined();
    const check = await compileJsonSchema({ pattern: source, patternProperties: { [source]: false } });
    for (const length of [28, 256, 100_000]) {
      const text = `${"a".repeat(length)}!`;
      expect(check(text)).toEqual([]);
      expect(check({ [text]: 1 })).toEqual([]);
    }
  });

  it.each<[string, string[], string[]]>([
    ["^[a-z0-9_-]+$", ["a-slug-1"], ["", "A"]],
    ["^\\d{4}-\\d{2}(?:-\\d{2})?$", ["2026-11", "2026-11-21"], ["2026-1", "26-11-21"]],
    ["\\b(?:cat|dog)s?\\b", ["two cats", "dog"], ["dogma", "concat"]],
    ["^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$", ["a.b@example.org"], ["a.b", "@x.y"]],
    ["^(asc|desc)$", ["asc"], ["ascending"]],
    ["^\\p{L}+$", ["é字"], ["1"]],
    ["^[^\\]x(]+$", ["abc[}{"], ["x", "("]],
    ["^https?://", ["https://a"], ["ftp://a"]],
  ])("is checked where it is safe: %s", async (pattern, right, wrong) => {
    const check = await compileJsonSchema({ pattern });
    for (const text of right) expect([text, check(text)]).toEqual([text, []]);
    for (const text of wrong) {
      expect([text, check(text)]).toEqual([
        text,
        [{ path: "", message: `String does not match ${pattern}.` }],
      ]);
    }
  });

  it("ends on any string, however long", async () => {
    const check = await compileJsonSchema({ pattern: "a+a+b", patternProperties: { "a+a+b": {} } });
    expect(check("a".repeat(256))).toMatchObject([{ message: "String does not match a+a+b." }]);
    expect(check("a".repeat(1_000_000))).toEqual([]);
    expect(check({ ["a".repeat(1_000_000)]: 1 })).toEqual([
      { path: "", message: "has a name of more than 256 characters" },
    ]);
  });

  it("does not make a name unknown that it might have matched", async () => {
    const check = await compileJsonSchema({
      patternProperties: { "^(a+)+$": {} },
      additionalProperties: false,
    });
    expect(check({ aa: 1 })).toEqual([]);
  });
});
