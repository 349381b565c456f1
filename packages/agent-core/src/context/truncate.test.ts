import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { getMaxResultChars, isTailRelevant, truncateText } from "./truncate.ts";

describe("getMaxResultChars", () => {
  it.each([
    [8_000, 9_600],
    [13_333, 15_999],
    [32_000, 16_000],
    [99_999, 16_000],
    [100_000, 32_000],
    [200_000, 64_000],
    [1_000_000, 64_000],
  ])("for a window of %i tokens is %i", (window, chars) => {
    expect(getMaxResultChars(window)).toBe(chars);
  });
});

describe("truncateText", () => {
  const long = Array.from({ length: 2_000 }, (_, i) => `line ${i}`).join("\n");

  it("does not change short texts", () => {
    expect(truncateText("short", 10)).toBe("short");
  });

  it("keeps the start, ends at a line break and explains how to get less", () => {
    const cut = truncateText(long, 1_000);
    const [head, note] = cut.split("\n\n");
    expect(long.startsWith(`${head}\n`)).toBe(true);
    expect(note).toMatch(/^\[1\d,\d{3} characters left out: too long\. Ask for less: narrow the arguments/);
    expect(cut.length).toBeLessThanOrEqual(1_000);
    expect(cut.length).toBeGreaterThan(800);
  });

  it("keeps 70 % start and 30 % end if the end matters", () => {
    const cut = truncateText(`${long}\nError: it broke`, 1_000);
    expect(cut.endsWith("Error: it broke")).toBe(true);
    const [head = "", , tail = ""] = cut.split("\n\n");
    expect(head.length / (head.length + tail.length)).toBeCloseTo(0.7, 1);
    expect(truncateText(`${long}\nError: it broke`, 1_000, "head")).not.toContain("Error");
    expect(truncateText(long, 1_000, "head_tail").endsWith("line 1999")).toBe(true);
  });

  it("counts the omission exactly, never exceeds the limit and splits no character", () => {
    const text = fc
      .array(fc.constantFrom("a", "ä", "中", "😀", "\n", "error\n"), { maxLength: 400 })
      .map((p) => p.join(""));
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 1, max: 600 }),
        fc.constantFrom("head", "head_tail", "auto"),
        (given, max, keep) => {
          const cut = truncateText(given, max, keep);
          expect(cut.length).toBeLessThanOrEqual(Math.max(max, 0));
          expect(cut.isWellFormed()).toBe(true);
          const note = /\n\n\[([\d,]+) characters left out[^\]]*\](\n\n)?/.exec(cut);
          if (note === null) return;
          const kept = cut.length - note[0].length;
          expect(kept + Number(note[1]?.replaceAll(",", ""))).toBe(given.length);
          expect(given.startsWith(cut.slice(0, note.index))).toBe(true);
          expect(given.endsWith(cut.slice(note.index + note[0].length))).toBe(true);
        },
      ),
    );
  });
});

describe("isTailRelevant", () => {
  it.each([
    ["x\n".repeat(3_000), false],
    [`${"x\n".repeat(3_000)}Traceback (most recent call last):`, true],
    [`${"x\n".repeat(3_000)}exit code 2`, true],
    [`${"行\n".repeat(3_000)}编译失败，退出码为 2`, true],
    [`${"行\n".repeat(3_000)}合计：12,400 元`, true],
    ["今天天气很好。\n".repeat(3_000), false],
    [`{"a": [${"1, ".repeat(2_000)}1]}`, true],
    [`${"x\n".repeat(3_000)}}`, false],
  ])("looks at the end of %.20s…", (text, matters) => {
    expect(isTailRelevant(text)).toBe(matters);
  });
});
