import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { coversPattern, fitsPattern } from "./pattern.ts";

const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*", "."), maxLength: 6 });
const text = fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 8 });

describe("fitsPattern", () => {
  it("agrees with a regular expression", () => {
    fc.assert(
      fc.property(pattern, text, (pattern, text) => {
        const source = pattern.replaceAll(".", "\\.").replaceAll("*", ".*");
        expect(fitsPattern(pattern, text)).toBe(new RegExp(`^${source}$`).test(text));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("coversPattern", () => {
  it("promises that whatever the narrow one fits, the wide one fits", () => {
    fc.assert(
      fc.property(pattern, pattern, text, (wide, narrow, text) => {
        if (coversPattern(wide, narrow) && fitsPattern(narrow, text))
          expect(fitsPattern(wide, text)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ["*", undefined],
    [undefined, "*"],
    ["a*", "ab*"],
    ["*a*", "ba*"],
    ["a*b", "ab"],
  ])("knows that %s covers %s", (wide, narrow) => {
    expect(coversPattern(wide, narrow)).toBe(true);
  });

  it.each([
    ["a*", "*"],
    ["a*b", "a"],
    ["ab*", "a*"],
    ["a", undefined],
  ])("knows that %s does not cover %s", (wide, narrow) => {
    expect(coversPattern(wide, narrow)).toBe(false);
  });
});
