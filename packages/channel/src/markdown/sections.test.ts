import fc from "fast-check";
import type { Root } from "mdast";
import { expect, it } from "vitest";
import { parseMarkdown } from "./parse.ts";
import { splitSections } from "./sections.ts";

const line = fc.constantFrom(
  ...[
    "",
    "",
    "",
    "a word",
    "*b*",
    "text\\",
    "# head",
    "---",
    "===",
    "* * *",
    "> quote",
    "    code",
    "\tindent",
  ],
  ...["- item", "  more of it", "  - nested", "1. one", "2. two", "10) ten"],
  ...["```", "```js", "~~~", "  ```", "- ```", "> ~~~"],
  ...[
    "| a | b |",
    "|---|---|",
    "| 1 | 2 |",
    "[l](http://x.y)",
    "[l]",
    "[l]: http://x.y",
    "[^1]",
    "[^1]: note",
  ],
  ...["<div>", "<!-- c", "-->", "<pre>", "</pre>"],
);

function blocksOf({ children }: Root, offset = 0) {
  return children.map(({ type, position }) => [
    type,
    offset + (position?.start.offset ?? 0),
    offset + (position?.end.offset ?? 0),
  ]);
}

it("splits a text only between blocks", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
      const text = lines.join("\n");
      const sections = splitSections(text);
      expect(sections.join("")).toBe(text);
      let offset = 0;
      const blocks = sections.flatMap((section) => {
        const own = blocksOf(parseMarkdown(section).root, offset);
        offset += section.length;
        return own;
      });
      expect(blocks).toEqual(blocksOf(parseMarkdown(text).root));
    }),
    { numRuns: 500 },
  );
});

it("splits a typical answer into paragraphs, headings and code", () => {
  const parts = ["First.\n\n", "## Then\n\n", "```js\na\n\nb\n```\n\n", "Last:\n- one\n\n- two\n\n", "End."];
  expect(splitSections(parts.join(""))).toEqual(parts);
});
