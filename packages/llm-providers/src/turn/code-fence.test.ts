import fc from "fast-check";
import { expect, it } from "vitest";
import { CodeFence } from "./code-fence.ts";

function unfence(pieces: readonly string[]): string {
  const fence = new CodeFence();
  return pieces.map((piece) => fence.push(piece)).join("") + fence.end();
}

it.each([
  ["```json\n{}\n```", "{}"],
  ["  ```\n{}\n```\n", "{}"],
  ['{"a":"```"}', '{"a":"```"}'],
  ["```json\n{}", "{}"],
  ["prose with ``` in it", "prose with ``` in it"],
  ["``", "``"],
  ["", ""],
])("%j becomes %j", (text, expected) => {
  expect(unfence([text])).toBe(expected);
});

it("removes the same however the text is cut into pieces", () => {
  const part = fc.constantFrom("```", "`", "json", "\n", " ", "{", "}", "a");
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      expect(unfence(parts)).toBe(unfence([parts.join("")]));
    }),
  );
});
