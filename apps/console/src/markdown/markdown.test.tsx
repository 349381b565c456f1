import { parseMarkdown } from "@signalbox/channel/markdown";
import fc from "fast-check";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { Markdown } from "./markdown.tsx";
import { type Sections, sectionsOf } from "./sections.ts";

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
      "<p><strong>bold</strong>, <em>it</em>, <em><strong>both</strong></em>, <del>gone</del>, <code>a &lt; b</code></p>",
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
      "| a | b |\n|---|:-:|\n| 1 | **2** |\n\nafter",
      '<div class="table" tabindex="0"><table><thead><tr><th>a</th><th class="center">b</th></tr></thead><tbody><tr><td>1</td><td class="center"><strong>2</strong></td></tr></tbody></table></div><p>after</p>',
    ],
    ["a | b", "<p>a | b</p>"],
    [
      "- [x] done\n- [ ] to do",
      '<ul><li class="task"><input type="checkbox" disabled="" checked=""/>done</li><li class="task"><input type="checkbox" disabled=""/>to do</li></ul>',
    ],
    [
      "so $a_1$, from **$5** to **$10**",
      '<p>so <span class="formula"><code>a_1</code><span hidden=""></span></span>, from <strong>$5</strong> to <strong>$10</strong></p>',
    ],
    ["so[^1]\n\n[^1]: why", '<p>so<sup>1</sup></p><div class="footnote"><sup>1</sup><p>why</p></div>'],
  ])("shows %j", (text, expected) => {
    expect(html(text)).toBe(expected);
  });

  it("keeps code unchanged and renders an unclosed fence", () => {
    expect(html("```ts\nif (a) {\n\n  **b**\n}\n```\nafter")).toMatch(
      /<code>if \(a\) \{\n\n {2}\*\*b\*\*\n\}<\/code>.*<p>after<\/p>$/s,
    );
    expect(html("````\n```\nx")).toContain("<code>```\nx</code>");
    expect(html("1. a\n   ```sh\n   ls\n   ```")).toMatch(
      /<li>a.*<span>sh<\/span>.*<code>ls<\/code>.*<\/li>/s,
    );
  });

  it("parses only the end of a growing text again, with the same result", () => {
    const block = "A paragraph with **words** and `code`.\n\n- one\n- two\n\n| a |\n|---|\n| 1 |\n\n";
    const whole = `${block.repeat(100)}The end`;
    let sections: Sections = [];
    for (let length = 700; length < whole.length + 700; length += 700)
      sections = sectionsOf(whole.slice(0, length), sections);
    expect(sections.length).toBeGreaterThan(2);
    expect(sections.map(({ source }) => source).join("")).toBe(whole);
    const types = (all: Sections) => all.flatMap(({ root }) => root.children.map(({ type }) => type));
    expect(types(sections)).toEqual(types([parseMarkdown(whole)]));
    expect(sectionsOf("Another text", sections)).toHaveLength(1);
  });

  it.each([
    [
      "[docs](https://example.org/a_(b))",
      '<a href="https://example.org/a_(b)">docs</a><span class="host"> (example.org)</span>',
    ],
    ["[docs][1]\n\n[1]: https://example.org/", '<a href="https://example.org/">docs</a>'],
    ["![cat](https://example.org/c.png)", '<a href="https://example.org/c.png">cat</a>'],
    ["见 https://example.org/a，然后", '见 <a href="https://example.org/a">https://example.org/a</a>，然后'],
    ["(https://example.org/a).", '(<a href="https://example.org/a">https://example.org/a</a>).'],
    [
      "[bank.com](https://evil.org/)",
      '<a href="https://evil.org/">bank.com</a><span class="host other"> (evil.org)</span>',
    ],
    [
      "[**https://bank.com**](https://evil.org/)",
      '<a href="https://evil.org/"><strong>https://bank.com</strong></a><span class="host other"> (evil.org)</span>',
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

  it("never throws and never invents a URL", () => {
    const part = fc.constantFrom(
      ..."*_~`[]()!<>#-|> 1.\n\\\t".split(""),
      ...["https://a.b", "javascript:x", "](", "```", "   ", "你", "\u0000"],
    );
    const safe =
      /^(<\/?(p|sup|br|strong|em|del|code|pre|figure|figcaption|button|span|blockquote|ul|ol|li|hr|h[3-6]|table|thead|tbody|tr|th|td|div)( (class|tabindex|type|start)="[\w -]*")*\/?>|<input type="checkbox" disabled=""( checked="")?\/>|<a href="https?:\/\/(a\.b|www)[^"<>]*">|<\/a>|[^<>])*$/;
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        expect(html(parts.join(""))).toMatch(safe);
      }),
      { numRuns: 1000 },
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
    "_www.",
    "[^a]",
  ])("stays quick on a long run of %j", (piece) => {
    expect(sectionsOf(piece.repeat(10_000))).not.toHaveLength(0);
    for (let text = piece; text.length < 3000; text = `${piece}${text}${text}${piece}`)
      expect(sectionsOf(text)).not.toHaveLength(0);
  });
});
