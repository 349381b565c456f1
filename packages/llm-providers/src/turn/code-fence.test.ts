import fc from "fast-check";
import { expect, it } from "vitest";
import { CodeFence, withoutFence } from "./code-fence.ts";

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

it("passes on a long row of spaces quickly", () => {
  const text = `{${" ".repeat(1_500)}}`;
  const { user } = process.cpuUsage();
  expect(unfence(["```json\n", ...(text.match(/.{1,50}/g) ?? [])])).toBe(text);
  // In microseconds. A search from each space takes some seconds.
  expect(process.cpuUsage().user - user).toBeLessThan(1_000_000);
});

it("removes the fence around a whole text", () => {
  const firstLine = /^[a-z]*\s*\n/i;
  expect(withoutFence(" ```json\n\n{}\n``` ", firstLine)).toBe("{}");
  expect(withoutFence("```\n```", firstLine)).toBe("");
  for (const text of ["```", "````", "```json```", "```js on\n{}\n```", "```\n{}", "{}\n```"])
    expect(withoutFence(text, firstLine)).toBe(text);
});
