import type { Nodes } from "mdast";
import { describe, expect, it } from "vitest";
import { parseMarkdown, splitMarkdown } from "./index.ts";
import { isParent } from "./parse.ts";

/** Texts of 14,000 characters that cost a parser hundreds of milliseconds and more. */
const HOSTILE: Readonly<Record<string, string>> = {
  "a quote of sixteen levels that goes on": `${"> ".repeat(16)}${"a\n".repeat(7_000)}`,
  "lines that make headings of each other": "a\n-\n".repeat(3_500),
  "a list in a list in a list": Array.from({ length: 160 }, (_, depth) => `${"  ".repeat(depth)}- a`).join(
    "\n",
  ),
  "quotes and lists in turns": `${"> - ".repeat(8)}a\n`.repeat(400),
  "nothing but items": "- a\n".repeat(3_500),
  "nothing but paragraphs": "a\n\n".repeat(4_700),
  "nothing but cells": `${"|a".repeat(2_000)}|\n${"|-".repeat(2_000)}|\n${"|b".repeat(2_000)}|`,
  "nothing but rows": `| a | b |\n|---|---|\n${"| c | d |\n".repeat(1_400)}`,
  "brackets that are never closed": "[".repeat(14_000),
  "emphasis in every paragraph": `${"*a* ".repeat(120)}\n\n`.repeat(28),
};

/** What makes reading and showing a text slow is how much there is in its tree, and how deep. */
function sizeOf(node: Nodes): number {
  return isParent(node) ? node.children.reduce((sum, child) => sum + sizeOf(child), 1) : 1;
}

describe("a text that was made to be slow", () => {
  it.each(Object.entries(HOSTILE))("is read without what makes it slow: %s", (_, text) => {
    const hostile = text.slice(0, 14_000);
    const { source, root } = parseMarkdown(hostile);
    expect(sizeOf(root)).toBeLessThan(2_500);
    expect(source).toBe(hostile);
    expect(
      splitMarkdown(hostile, { max: 2_000, unit: "utf16" }).join("").replace(/\s+/g, "").length,
    ).toBeGreaterThanOrEqual(hostile.replace(/\s+/g, "").length);
  });

  it("is nothing that people and models write", () => {
    const report = [
      "# Report\n",
      ...Array.from(
        { length: 40 },
        (_, index) => `## Part ${index}\n\nSome *words* and \`code\`.\n\n- one\n  - two\n- three\n`,
      ),
      "| a | b | c |\n|---|---|---|\n",
      "| 1 | 2 | 3 |\n".repeat(100),
    ].join("\n");
    const { root } = parseMarkdown(report);
    expect(root.children.filter(({ type }) => type === "heading")).toHaveLength(41);
    expect(root.children.filter(({ type }) => type === "list")).toHaveLength(40);
  });
});
