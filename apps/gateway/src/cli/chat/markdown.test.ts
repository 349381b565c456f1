import { expect, it } from "vitest";
import { createMarkdownStyler } from "./markdown.ts";

const TEXT =
  "# Birds\nA **heron** eats `fish` * 2.\n```js\nconst a = `**x**`;\n# no heading\n```\n- 2 ** 3\n#tag and **open";

/** Returns the text with readable names of the styles. */
function styleInPieces(text: string, length: number): string {
  const styler = createMarkdownStyler();
  let styled = "";
  for (let at = 0; at < text.length; at += length) styled += styler.style(text.slice(at, at + length));
  const names: Readonly<Record<string, string>> = { "0": "/", "1": "b", "2": "d", "36": "c" };
  const [first = "", ...others] = (styled + styler.end()).split("\u001b[");
  return (
    first + others.map((part) => part.replace(/^(\d+)m/, (_, code: string) => `<${names[code]}>`)).join("")
  );
}

it("colors headings, bold text and code, and leaves code blocks as they are", () => {
  expect(styleInPieces(TEXT, TEXT.length)).toBe(
    [
      "</><b>Birds</>",
      "A </><b>heron</> eats </><c>fish</> * 2.",
      "</><d>```js",
      "const a = `**x**`;",
      "# no heading",
      "```</>",
      "- 2 ** 3",
      "#tag and </><b>open</>",
    ].join("\n"),
  );
});

it("has the same result for text that arrives in pieces of any length", () => {
  for (let length = 1; length < 9; length++)
    expect(styleInPieces(TEXT, length), `${length}`).toBe(styleInPieces(TEXT, TEXT.length));
});
