import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TextUnit } from "../contract/capabilities.ts";
import { splitText, textLength } from "../index.ts";
import { splitMarkdown } from "./split-markdown.ts";

const units: TextUnit[] = ["utf16", "bytes", "codepoints"];
/** Removes whitespace and fences. The rest of the text must survive. */
const substance = (text: string) =>
  text
    .split("\n")
    .filter((line) => !/^\s*(`{3,}|~{3,})/.test(line))
    .join("")
    .replace(/\s+/g, "");
const openFences = (text: string) => text.split("\n").filter((line) => /^\s*```/.test(line)).length % 2;

const word = fc.oneof(
  fc.string({ minLength: 1, maxLength: 9, unit: fc.constantFrom(..."abcXYZ019._-*") }),
  fc.constantFrom(
    "你好，世界。",
    "遍历当前目录",
    "👩‍👩‍👧‍👦",
    "🇩🇪🇫🇷",
    "é",
    "e\u0301",
    "a\u0300\u0301",
    "😀",
    "。",
    "，",
  ),
);
const line = fc.array(word, { maxLength: 12 }).map((words) => words.join(" "));
const block = fc.oneof(
  { weight: 3, arbitrary: fc.array(line, { maxLength: 4 }).map((lines) => lines.join("\n")) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("", "python", "ts"), fc.array(line, { minLength: 1, maxLength: 8 }))
      .map(([info, lines]) => [`${"```"}${info}`, ...lines.map((one) => `x${one}`), "```"].join("\n")),
  },
);
const markdown = fc.array(block, { maxLength: 6 }).map((blocks) => blocks.join("\n\n"));

describe("splitText", () => {
  it("returns a short text as one part with normalized line endings", () => {
    expect(splitText("one\r\ntwo\rthree\u2028four", { max: 40, unit: "utf16" })).toEqual([
      "one\ntwo\nthree\nfour",
    ]);
    expect(splitText("a".repeat(10_000), { unit: "bytes" })).toHaveLength(1);
    expect(splitText(" \n\n ", { max: 40, unit: "utf16" })).toEqual([]);
  });

  it("prefers paragraphs, then lines, then sentences, then words", () => {
    const limit = { max: 24, unit: "utf16" } as const;
    expect(splitText("first line\nsecond\n\nthird paragraph here", limit)).toEqual([
      "first line\nsecond",
      "third paragraph here",
    ]);
    expect(splitText("first line here\nsecond line here", limit)).toEqual([
      "first line here",
      "second line here",
    ]);
    expect(splitText("One sentence. Another long one here", limit)).toEqual([
      "One sentence.",
      "Another long one here",
    ]);
    expect(splitText("several words without an end", limit)).toEqual(["several words without an", "end"]);
    expect(
      splitText("这是第一句话，它比较长一些。这是第二句话，也不短。", { max: 16, unit: "codepoints" }),
    ).toEqual(["这是第一句话，它比较长一些。", "这是第二句话，也不短。"]);
  });

  it("closes and reopens a code block at a cut", () => {
    const text = "Look:\n\n```python\nprint(1)\nprint(2)\n    print(3)\nprint(4)\n```\nDone.";
    expect(splitText(text, { max: 40, unit: "utf16" })).toEqual([
      "Look:\n\n```python\nprint(1)\nprint(2)\n```",
      "```python\n    print(3)\nprint(4)\n```",
      "Done.",
    ]);
  });

  it("fills a part to the last unit", () => {
    for (const unit of units) {
      const one = unit === "codepoints" ? "😀" : unit === "bytes" ? "你" : "a";
      const size = textLength(one, unit);
      const text = one.repeat(40);
      expect(splitText(text, { max: 40 * size, unit })).toEqual([text]);
      expect(splitText(text + one, { max: 40 * size, unit })).toEqual([text, one]);
    }
  });

  it("does not split grapheme clusters", () => {
    const family = "👩‍👩‍👧‍👦";
    expect(splitText(family.repeat(4), { max: 16, unit: "utf16" })).toEqual([family, family, family, family]);
    expect(
      splitText("🇩🇪".repeat(200), { max: 90, unit: "utf16" }).every((part) => part.length % 4 === 0),
    ).toBe(true);
  });

  it("keeps all text, every limit and balanced fences", () => {
    fc.assert(
      fc.property(
        markdown,
        fc.integer({ min: 32, max: 120 }),
        fc.constantFrom(...units),
        (text, max, unit) => {
          const parts = splitText(text, { max, unit });
          expect(parts.map(substance).join("")).toBe(substance(text));
          for (const part of parts) {
            expect(textLength(part, unit)).toBeLessThanOrEqual(max);
            expect(part.trim()).not.toBe("");
            expect(part.isWellFormed()).toBe(true);
            expect(openFences(part)).toBe(0);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("terminates within the limit for arbitrary text", () => {
    const anything = fc.string({
      unit: fc.constantFrom(..."ab`~\n\t \r。😀\ud83d\udc69\u200d\u0301[](!#"),
      maxLength: 300,
    });
    fc.assert(
      fc.property(
        anything,
        fc.integer({ min: 16, max: 64 }),
        fc.constantFrom(...units),
        (text, max, unit) => {
          for (const part of splitText(text, { max, unit })) {
            expect(textLength(part, unit)).toBeLessThanOrEqual(max);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("rejects a limit under 16", () => {
    expect(() => splitText("text", { max: 15, unit: "bytes" })).toThrow(RangeError);
  });

  it("keeps list items whole", () => {
    const text = "Steps:\n\n1. Open the terminal\n2. Run it:\n   ```sh\n   ls -la\n   ```\n3. Read";
    expect(splitMarkdown(text, { max: 48, unit: "utf16" })).toEqual([
      "Steps:\n\n1. Open the terminal",
      "2. Run it:\n   ```sh\n   ls -la\n   ```\n3. Read",
    ]);
  });

  it("repeats the header of a table and the markers of a quote", () => {
    const table = "| 名 | 值 |\n| --- | --: |\n| a | 1 |\n| b | 2 |\n| c | 3 |";
    expect(splitMarkdown(table, { max: 44, unit: "utf16" })).toEqual([
      "| 名 | 值 |\n| --- | --: |\n| a | 1 |\n| b | 2 |",
      "| 名 | 值 |\n| --- | --: |\n| c | 3 |",
    ]);
    expect(splitMarkdown("> one two three\n> four five six", { max: 20, unit: "utf16" })).toEqual([
      "> one two three",
      "> four five six",
    ]);
  });

  it("does not split links and inline code if there is another place", () => {
    const text = "Some words before [a link with a label](https://a.b/c) and `code that goes on`.";
    const parts = splitMarkdown(text, { max: 60, unit: "utf16" });
    expect(parts.join(" ")).toBe(text);
    for (const part of parts) {
      expect(part.split("[").length).toBe(part.split(")").length);
      expect(part.split("`").length % 2).toBe(1);
    }
  });

  it("cuts before a part has too many marks", () => {
    const links = Array.from({ length: 101 }, (_, at) => `[${at + 1}](http://b.example/${at + 1})`).join(" ");
    const parts = splitText(links, { max: 4_096, unit: "utf16", maxMarks: 100 });
    expect(parts.map((part) => part.split("](").length - 1)).toEqual([100, 1]);
    expect(parts.join(" ")).toBe(links);
    const items = Array.from({ length: 51 }, (_, at) => `- **${at}** [x](http://b.example/${at})`).join("\n");
    expect(splitText(items, { max: 4_096, unit: "utf16", maxMarks: 100 })).toHaveLength(2);
    expect(splitText(items, { max: 4_096, unit: "utf16" })).toEqual([items]);
    // Asterisks that do not format anything are not marks.
    const stars = "2 * 3 ".repeat(120);
    expect(splitText(stars, { max: 4_096, unit: "utf16", maxMarks: 100 })).toHaveLength(1);
  });

  it.each(["> ", "1. > ", "[^a]", "_www.", "![](", "~~a", "<!--", "- ", "|a|\n|-|\n"])(
    "terminates for a long run of %j",
    (piece) => {
      expect(splitMarkdown(piece.repeat(4000), { max: 4000, unit: "bytes" })).not.toHaveLength(0);
    },
  );
});

it("splits a text that is too complex to parse like prose, without losing any of it", () => {
  const text = Array.from({ length: 30_000 }, (_, at) => `word${at}`).join(" ");
  const parts = splitText(text, { max: 4_000, unit: "bytes" });
  expect(parts.join(" ")).toBe(text);
  expect(parts.every((part) => textLength(part, "bytes") <= 4_000)).toBe(true);
});
