import fc from "fast-check";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { parseMarkdown } from "./blocks.ts";
import { Markdown } from "./markdown.tsx";

function html(text: string): string {
  return renderToStaticMarkup(<Markdown text={text} />)
    .replace(/^<div class="markdown">|<\/div>$/g, "")
    .replaceAll(' target="_blank" rel="noopener noreferrer"', "")
    .replace(/ title="[^"]*"/g, "");
}

describe("Markdown", () => {
  it.each([
    ["plain 你好", "<p>plain 你好</p>"],
    ["one\ntwo\n\nthree", "<p>one<br/>two</p><p>three</p>"],
    [
      "**bold**, *it*, ***both***, ~~gone~~, `a < b`",
      "<p><strong>bold</strong>, <em>it</em>, <strong><em>both</em></strong>, <del>gone</del>, <code>a &lt; b</code></p>",
    ],
    ["这是**重点：**后面", "<p>这是<strong>重点：</strong>后面</p>"],
    ["*a **b** c*", "<p><em>a <strong>b</strong> c</em></p>"],
    ["snake_case_name and 2 * 3 * 4 and ~/x ~y", "<p>snake_case_name and 2 * 3 * 4 and ~/x ~y</p>"],
    ["**open and *open", "<p>**open and *open</p>"],
    ["``a ` b`` and `` ` ``", "<p><code>a ` b</code> and <code>`</code></p>"],
    ["\\*not\\* \\a", "<p>*not* \\a</p>"],
    ["# One\n### Three\n#no", "<h3>One</h3><h5>Three</h5><p>#no</p>"],
    [
      "- a\n- b\n  - c\n\n1. x\n2. y",
      '<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul><ol start="1"><li>x</li><li>y</li></ol>',
    ],
    ["3) x\n\n   more\n4) y", '<ol start="3"><li>x<p>more</p></li><li>y</li></ol>'],
    [
      "text\n- a\n  goes on\nlazily\n\nafter",
      "<p>text</p><ul><li>a<br/>goes on<br/>lazily</li></ul><p>after</p>",
    ],
    ["> a\n> b\n>\n> - c", "<blockquote><p>a<br/>b</p><ul><li>c</li></ul></blockquote>"],
    ["---\n***", "<hr/><hr/>"],
    ["* * *", "<hr/>"],
    [
      "| a | b |\n|---|:-:|\n| 1 | **2** |\nafter",
      '<div class="table"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><strong>2</strong></td></tr></tbody></table></div><p>after</p>',
    ],
    ["a | b", "<p>a | b</p>"],
  ])("shows %j", (text, expected) => {
    expect(html(text)).toBe(expected);
  });

  it("keeps code as it was written, and an unfinished fence open", () => {
    expect(parseMarkdown("```ts\nif (a) {\n\n  **b**\n}\n```\nafter")).toMatchObject([
      { type: "code", language: "ts", text: "if (a) {\n\n  **b**\n}" },
      { type: "paragraph" },
    ]);
    expect(parseMarkdown("````\n```\nx")).toMatchObject([{ type: "code", text: "```\nx" }]);
    expect(parseMarkdown("1. a\n   ```sh\n   ls\n   ```")).toMatchObject([
      { items: [[{ type: "paragraph" }, { type: "code", language: "sh", text: "ls" }]] },
    ]);
  });

  it.each([
    ["[docs](https://example.org/a_(b))", '<a href="https://example.org/a_(b)">docs</a>'],
    ["![cat](https://example.org/c.png)", '<a href="https://example.org/c.png">cat</a>'],
    ["见 https://example.org/a，然后", '见 <a href="https://example.org/a">https://example.org/a</a>，然后'],
    ["(https://example.org/a).", '(<a href="https://example.org/a">https://example.org/a</a>).'],
    [
      "[bank.com](https://evil.org/)",
      '<a href="https://evil.org/">bank.com</a><span class="host"> (evil.org)</span>',
    ],
    [
      "[**https://bank.com**](https://evil.org/)",
      '<a href="https://evil.org/"><strong>https://bank.com</strong></a><span class="host"> (evil.org)</span>',
    ],
    ["[x](javascript:alert(1))", "[x](javascript:alert(1))"],
    ["[x](JaVaScRiPt:alert)", "[x](JaVaScRiPt:alert)"],
    ["[x](data:text/html,y)", "[x](data:text/html,y)"],
    ["[x](//evil.org) [x](/api/logout) [x](vbscript:y)", "[x](//evil.org) [x](/api/logout) [x](vbscript:y)"],
    ['[x](https://a.b/"onclick="y)', "https://a.b/"],
  ])("makes links to the web only: %j", (text, expected) => {
    expect(html(text)).toContain(expected);
  });

  it.each([
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<a href='javascript:alert(1)'>x</a>",
    "```html\n<script>alert(1)</script>\n```",
    "`<svg onload=alert(1)>`",
    "| <b>x</b> |\n|---|\n| <iframe src=//evil.org> |",
    "[<img src=x>](https://example.org)",
    "&lt;script&gt; &#60;",
  ])("shows HTML as the text that it is: %s", (text) => {
    expect(html(text)).not.toMatch(/<(script|img|svg|iframe|b|a href=['"]?javascript)/i);
  });

  it("neither fails nor invents an address, whatever the text", () => {
    const part = fc.constantFrom(
      ..."*_~`[]()!<>#-|> 1.\n\\\t".split(""),
      ...["https://a.b", "javascript:x", "](", "```", "   ", "你", "\u0000"],
    );
    const safe =
      /^(<\/?(p|br|strong|em|del|code|pre|figure|figcaption|button|span|blockquote|ul|ol|li|hr|h[3-6]|table|thead|tbody|tr|th|td|div)( (class|tabindex|type|start)="[\w -]*")*\/?>|<a href="https:\/\/a\.b[^"<>]*">|<\/a>|[^<>])*$/;
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        expect(html(parts.join(""))).toMatch(safe);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    "*a ",
    "**a ",
    "_a ",
    "`",
    "``` a\n",
    "[",
    "![](",
    "[a](b",
    "> ",
    "- ",
    "1. ",
    "|",
    "https://a.b/",
    "\\",
    "((",
    "~~a",
    "# ",
    " ",
  ])("stays quick on a long run of %j", (piece) => {
    expect(parseMarkdown(piece.repeat(20_000)).length).toBeGreaterThanOrEqual(0);
    for (let text = ""; text.length < 3000; text = `${piece}${text}${piece}`) parseMarkdown(text);
  });
});
