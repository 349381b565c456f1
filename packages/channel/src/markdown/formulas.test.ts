import type { InlineCode, Nodes } from "mdast";
import { describe, expect, it } from "vitest";
import { isParent, parseMarkdown } from "./parse.ts";

function formulasIn(text: string): [string, string | undefined][] {
  const each = (node: Nodes): InlineCode[] =>
    node.type === "inlineCode" ? [node] : isParent(node) ? node.children.flatMap(each) : [];
  return each(parseMarkdown(text, { formulas: true }).root).map(({ value, data }) => [value, data?.formula]);
}

describe("formulas", () => {
  it.each([
    ["so $E = mc^2$.", "E = mc^2", "inline"],
    ["$$\\int_0^1 x^2\\,dx$$", "\\int_0^1 x^2\\,dx", "display"],
    ["$$\n\\begin{aligned}\na &= b \\\\\n&= c\n\\end{aligned}\n$$", undefined, "display"],
    ["a \\(x_1 * x_2\\) b", "x_1 * x_2", "inline"],
    ["\\[\na \\\\)b\n\\]", "a \\\\)b", "display"],
    ["| a |\n|---|\n| $x_i$ |", "x_i", "inline"],
    ["> **so** $x$", "x", "inline"],
    ["$x$与$y$"],
  ])("are parsed in %j", (text, value?: string, kind?: string) => {
    const all = formulasIn(text);
    if (kind === undefined) expect(all.map(([tex]) => tex)).toEqual(["x", "y"]);
    else expect(all).toEqual([[value ?? text.slice(2, -2).trim(), kind]]);
  });

  it.each([
    "$5 and $10",
    "from **$5** to **$10**",
    "US$5/$6",
    "$ x $",
    "$x",
    "$$x$",
    "\\(x",
    "\\\\(x\\\\)",
    "cost: $",
    "$$\n$$",
    "$$ \u00a0$$",
    "\\(\\)",
    "\\[ \\]",
    "a $b\n\nc$",
  ])("are not parsed in %j", (text) => expect(formulasIn(text)).toEqual([]));

  it.each(["`$x$`", "```\n$$x$$\n```"])("are not parsed in code: %j", (text) => {
    expect(formulasIn(text).filter(([, kind]) => kind !== undefined)).toEqual([]);
  });

  it("stay text by default", () => {
    const [paragraph] = parseMarkdown("so $x$").root.children;
    expect(paragraph).toMatchObject({ children: [{ type: "text", value: "so $x$" }] });
  });

  it.each(["$a ", "\\(a ", "\\[a ", "$"])("are searched in linear time in 20,000 times %j", (part) => {
    expect(formulasIn(part.repeat(20_000))).toEqual([]);
  });
});
