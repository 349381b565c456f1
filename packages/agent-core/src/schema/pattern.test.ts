import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileJsonSchema } from "./json-schema.ts";
import { compilePattern } from "./pattern.ts";
import { LinearPattern } from "./pattern-linear.ts";
import { parsePattern } from "./pattern-parse.ts";

const test = (source: string, text: string): boolean | undefined => compilePattern(source)?.test(text);

describe("a pattern", () => {
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
    "a*a*a*a*a*b",
    "(?:a+)+(?:){300000000}b",
    "(?:(?:(?:){100000}){100000}){100000}",
    Array(50).fill("a*a*b").join("|"),
    "a{20000}b",
  ])("that could take for ever does not: %s", (source) => {
    for (const length of [28, 2_000, 100_000]) {
      for (const text of ["a".repeat(length), `${"a".repeat(length)}!`]) {
        expect(test(source, text)).toBeTypeOf("boolean");
      }
    }
  });

  it.each<[string, string[], string[]]>([
    ["^(a+)+$", ["aaaa"], ["aaab", ""]],
    ["^[a-z0-9]+(-[a-z0-9]+)*$", ["a-slug-1", "x".repeat(20_000)], ["a--b", "-a", `${"x".repeat(20_000)}!`]],
    ["^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\\.)+[a-z]{2,}$", ["a.example.org"], ["example", "-a.org"]],
    ["^\\d{4}-\\d{2}(?:-\\d{2})?$", ["2026-11", "2026-11-21"], ["2026-1", "26-11-21"]],
    ["(?<year>\\d+)(?:,\\s*(?<other>\\w+))*", ["1, b, c"], ["x"]],
    ["\\b(?:cat|dog)s?\\b", ["two cats", "dog"], ["dogma", "concat"]],
    ["^(?:\\p{L}|\\u{1F600})+$", ["é字😀"], ["1"]],
    ["^(?:.{2})+$", ["😀😀"], ["😀"]],
    ["^[^\\]x-]+([[]|]|\\}|{)*$", ["abc[]}{"], ["x", "-"]],
    ["^(?!no)\\w{2,8}$", ["yes"], ["nope"]],
    ["^(\\w)\\1$", ["aa"], ["ab"]],
    ["^(?:a{2}){2,3}$", ["aaaa", "aaaaaa"], ["aa", "aaaaaaaa", "aaaaa"]],
    ["^(?:|a)(?:b|)$", ["", "ab", "b"], ["ba"]],
  ])("still says what fits: %s", (source, right, wrong) => {
    for (const text of right) expect([text, test(source, text)]).toEqual([text, true]);
    for (const text of wrong) expect([text, test(source, text)]).toEqual([text, false]);
  });

  it("is no check where it is none, or more than can be checked", () => {
    expect(compilePattern("(")).toBeUndefined();
    expect(test("^(?=(a|b)+$)x", "y")).toBe(true);
    expect(test(`^(?:a{1500}){2}$`, "b")).toBe(true);
    expect(compileJsonSchema({ type: "string", pattern: "^(a+)+$" })(`${"a".repeat(40)}!`)).toEqual([
      { path: "", message: "must match ^(a+)+$" },
    ]);
    expect(
      compileJsonSchema({ patternProperties: { "^(a+)+$": false } })({ [`${"a".repeat(40)}!`]: 1 }),
    ).toEqual([]);
  });

  it("is matched in one pass as the engine matches it", () => {
    const atom = fc.constantFrom(
      "a",
      "b",
      "[ab]",
      "[^a]",
      ".",
      "\\w",
      "\\W",
      "\\b",
      "\\B",
      "^",
      "$",
      "é",
      "\\.",
      "",
    );
    const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
      part: fc.oneof(
        { maxDepth: 4 },
        atom,
        fc
          .tuple(tie("pattern"), fc.constantFrom("", "?", "*", "+", "{2}", "{1,2}", "{1,}", "*?"))
          .map(([inner, times]) => `(?:${inner})${times}`),
      ),
      pattern: fc.oneof(
        { maxDepth: 4 },
        tie("part"),
        fc.tuple(tie("part"), tie("part")).map((parts) => parts.join("")),
        fc.tuple(tie("part"), tie("part")).map((parts) => parts.join("|")),
      ),
    }));
    // No character beyond 16 bits: behind a negated class V8 does not find the end after one.
    const text = fc.string({ unit: fc.constantFrom("a", "b", ".", "é", "字", "\n"), maxLength: 6 });
    fc.assert(
      fc.property(
        pattern,
        fc.array(text, { maxLength: 8 }),
        fc.constantFrom("u", ""),
        (source, texts, flags) => {
          const node = parsePattern(source, flags === "u");
          expect(node).toBeDefined();
          if (node === undefined) return;
          const linear = new LinearPattern(node, flags === "u");
          const engine = new RegExp(source, flags);
          for (const given of texts) expect([given, linear.test(given)]).toEqual([given, engine.test(given)]);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
