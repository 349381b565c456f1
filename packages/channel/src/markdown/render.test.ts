import { describe, expect, it } from "vitest";
import { imageAsLink, type MarkdownRules, renderMarkdown } from "./index.ts";

/** Rules for a platform that uses HTML. */
const escaped = (text: string): string => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
const html: MarkdownRules = {
  root: (node, { inner }) => inner(node, "\n\n"),
  paragraph: (node, { inner }) => inner(node),
  heading: (node, { inner }) => `<b>${inner(node)}</b>`,
  strong: (node, { inner }) => `<b>${inner(node)}</b>`,
  text: ({ value }) => escaped(value),
  inlineCode: ({ value }) => `<code>${escaped(value)}</code>`,
  code: ({ value, lang }) => `<pre lang="${lang ?? ""}">${escaped(value)}</pre>`,
  link: (node, { inner }) => `<a href="${escaped(node.url)}">${inner(node)}</a>`,
  blockquote: (node, { inner }) => `<blockquote>${inner(node, "\n")}</blockquote>`,
  list: (node, { inner }) => inner(node, "\n"),
  listItem: (node, { inner }) => `• ${inner(node, "\n")}`,
};

describe("renderMarkdown", () => {
  it("converts images to links and escapes their descriptions", () => {
    const text = "![a](https://b.c) ![](<https://b.c/d e>) ![a \\[b\\](c)](https://b.c)";
    expect(renderMarkdown(text, { image: imageAsLink })).toBe(
      "[a](https://b.c) [image](<https://b.c/d e>) [a \\[b\\](c)](https://b.c)",
    );
  });

  it("translates Markdown into another markup", () => {
    const text =
      "# A < B\n\n> **quoted**\n> twice\n\n- one `<b>`\n- [two](https://a.b/?x=1&y)\n\n```ts\na < b\n```";
    expect(renderMarkdown(text, html)).toBe(
      [
        "<b>A &lt; B</b>",
        "<blockquote><b>quoted</b>\ntwice</blockquote>",
        '• one <code>&lt;b></code>\n• <a href="https://a.b/?x=1&amp;y">two</a>',
        '<pre lang="ts">a &lt; b</pre>',
      ].join("\n\n"),
    );
  });

  it.each([
    ["-\n[ ] todo", "• \n\n[ ] todo"],
    ["*\n[x] **", "• \n\n[x] **"],
    ["1.\n[X] *it*", "• \n\n[X] *it*"],
    ["-\n  [x] in it", "• in it"],
    ["- [ ] todo", "• todo"],
  ])("keeps a check box outside of a list item as text: %j", (text, rendered) => {
    expect(renderMarkdown(text, html)).toBe(rendered);
  });

  it("changes only nodes with a rule", () => {
    const text =
      "* a\n* b *c* ~~d~~\n\n1) x\n\n| a |\n|---|\n| ![p](q.png) |\n\n    code\n\n[r]: https://x.y\n";
    expect(renderMarkdown(text, {})).toBe(text);
    expect(renderMarkdown(text, { image: ({ alt }) => `<${alt}>` })).toBe(text.replace("![p](q.png)", "<p>"));
  });

  it("applies a rule for text only to prose, never to code, URLs or link labels", () => {
    const rules: MarkdownRules = { text: ({ value }) => value.replace(/@(\w+)/g, "<@$1>") };
    const untouched = "`@ann` https://a.b/@ann ann@example.org <https://a.b/@ann>\n\n```\n@ann\n```";
    expect(renderMarkdown(`@ann: ${untouched}`, rules)).toBe(`<@ann>: ${untouched}`);
    expect(renderMarkdown("[see @ann](https://a.b/@ann) 见https://a.b/@ann，@ann", rules)).toBe(
      "[see @ann](https://a.b/@ann) 见https://a.b/@ann，<@ann>",
    );
  });
});
