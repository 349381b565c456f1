import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesAccount } from "./account-pattern.ts";

const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*", "."), maxLength: 6 });
const text = fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 8 });

describe("matchesAccount", () => {
  it("agrees with a regular expression", () => {
    fc.assert(
      fc.property(pattern, text, (pattern, text) => {
        const source = pattern.replaceAll(".", "\\.").replaceAll("*", ".*");
        expect(matchesAccount(pattern, text)).toBe(new RegExp(`^${source}$`).test(text));
      }),
      { numRuns: 3_000 },
    );
  });
});
