import type { Nodes } from "mdast";
import { describe, expect, it } from "vitest";
import { isParent, parseMarkdown } from "./parse.ts";
import { splitMarkdown } from "./split-markdown.ts";

/** Texts of 14,000 characters that take the parser between hundreds of milliseconds and several seconds. */
const HOSTILE: Readonly<Record<string, string>> = {
  "a quote of sixteen levels with many lines": `${"> ".repeat(16)}${"a\n".repeat(7_000)}`,
  "lines that turn each other into headings": "a\n-\n".repeat(3_500),
  "deeply nested lists": Array.from({ length: 160 }, (_, depth) => `${"  ".repeat(depth)}- a`).join("\n"),
  "alternating quotes and lists": `${"> - ".repeat(8)}a\n`.repeat(400),
  "thousands of list items": "- a\n".repeat(3_500),
  "thousands of paragraphs": "a\n\n".repeat(4_700),
  "thousands of table cells": `${"|a".repeat(2_000)}|\n${"|-".repeat(2_000)}|\n${"|b".repeat(2_000)}|`,
  "thousands of table rows": `| a | b |\n|---|---|\n${"| c | d |\n".repeat(1_400)}`,
  "unclosed brackets": "[".repeat(14_000),
  "emphasis in every paragraph": `${"*a* ".repeat(120)}\n\n`.repeat(28),
};

/** Counts the nodes, whose number determines how long parsing and rendering take. */
function countNodes(node: Nodes): number {
  return isParent(node) ? node.children.reduce((sum, child) => sum + countNodes(child), 1) : 1;
}

describe("parseMarkdown", () => {
  it.each(Object.entries(HOSTILE))("returns plain text instead of parsing %s", (_, text) => {
    const hostile = text.slice(0, 14_000);
    const { source, root } = parseMarkdown(hostile);
    expect(countNodes(root)).toBe(3);
    expect(source).toBe(hostile);
    expect(
      splitMarkdown(hostile, { max: 2_000, unit: "utf16" }).join("").replace(/\s+/g, "").length,
    ).toBeGreaterThanOrEqual(hostile.replace(/\s+/g, "").length);
  });

  it("parses a long report with headings, lists and a table", () => {
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
