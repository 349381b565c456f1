import fc from "fast-check";
import { expect, test } from "vitest";
import { indexOfLinear } from "./linear-search.ts";

test("finds what indexOf finds", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 12 });
  fc.assert(
    fc.property(letters, letters, fc.nat(4), (around, wanted, from) => {
      // Long enough that the native search is not used.
      const repeated = (text: string) => text.replaceAll(/./g, (letter) => letter.repeat(1_500));
      const [text, part] = [repeated(`${around}${wanted}${around}`), repeated(wanted)];
      expect(indexOfLinear(text, part, from)).toBe(text.indexOf(part, from));
    }),
    { seed: Number(process.env["SIGNALBOX_SEED"] ?? 1), numRuns: 100 },
  );
});

test.each([
  ["in the middle", "a".repeat(2_000_000), `${"a".repeat(20_000)}b${"a".repeat(20_000)}`],
  ["at the beginning", "ab".repeat(1_000_000), `aa${"ab".repeat(20_000)}`],
])("searches a text of few letters in linear time if it differs %s", (_, text, wanted) => {
  const before = process.cpuUsage();
  expect(indexOfLinear(text, wanted)).toBe(-1);
  // In microseconds of processor time, because other programs share the machine.
  const { user, system } = process.cpuUsage(before);
  expect(user + system).toBeLessThan(2_000_000);
});
