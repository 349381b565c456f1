import fc from "fast-check";
import { expect, test } from "vitest";
import { ThinkTags } from "./think-tags.ts";

function split(pieces: readonly string[]): { thinking: string; text: string } {
  const tags = new ThinkTags();
  const said = { thinking: "", text: "" };
  for (const piece of pieces.flatMap((one) => tags.push(one)).concat(tags.end()))
    said[piece.kind] += piece.text;
  return said;
}

test.each([
  ["<think>\nHm.</think>\n\nYes.", "Hm.", "Yes."],
  ["  \n<think></think>Yes.", "", "Yes."],
  ["No tags <think>at the start</think>.", "", "No tags <think>at the start</think>."],
  ["<thin ice", "", "<thin ice"],
  ["<thi", "", "<thi"],
  ["<think>never closed </thi", "never closed </thi", ""],
  ["<think>a</think>b</think>c", "a", "b</think>c"],
  ["", "", ""],
])("%j", (whole, thinking, text) => {
  expect(split([whole])).toEqual({ thinking, text });
});

test("however the text is cut, it is split the same", () => {
  const tokens = fc.constantFrom("<think>", "</think>", "<", "</th", "think>", "\n", "\r\n", " ", "a", "🎉");
  fc.assert(
    fc.property(fc.array(tokens), fc.array(fc.nat(20)), (parts, cuts) => {
      const whole = parts.join("");
      const at = [...new Set(cuts.map((cut) => Math.min(cut, whole.length)))].sort((a, b) => a - b);
      const pieces = [...at, whole.length].map((end, i) => whole.slice(i === 0 ? 0 : at[i - 1], end));
      expect(split(pieces)).toEqual(split([whole]));
    }),
    { numRuns: 2000 },
  );
});
