import { isChannelError } from "@signalbox/channel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limits } from "../limits.ts";
import { toFeishu } from "./markdown.ts";
import { renderCard, renderPart } from "./render.ts";

const markdown = (text: string) => renderPart({ type: "markdown", text });
const contentOf = (text: string) => JSON.parse(markdown(text).content);
const cardText = (text: string): string => contentOf(text).body.elements[0].content;

describe("renderPart", () => {
  it("keeps plain words plain and never reads a text part as Markdown", () => {
    expect(markdown("你好。Done, 3 files: a.py")).toEqual({
      msgType: "text",
      content: '{"text":"你好。Done, 3 files: a.py"}',
    });
    expect(renderPart({ type: "text", text: "# *not* Markdown" }).msgType).toBe("text");
  });

  it("writes Markdown as rich text", () => {
    for (const text of [
      "**bold**",
      "- a\n- b",
      "1. a",
      "`code`",
      "```\nx\n```",
      "> quote",
      "[a](https://b.c)",
    ]) {
      expect(markdown(text)).toEqual({
        msgType: "post",
        content: JSON.stringify({ zh_cn: { content: [[{ tag: "md", text }]] } }),
      });
    }
  });

  it("writes a question in the words of a card, too: pictures by address would be refused", () => {
    const buttons = [{ id: "yes", label: "Yes" }];
    const { content } = renderPart({
      type: "buttons",
      text: "![chart](https://b.c/d.png) **Now?**",
      buttons,
    });
    expect(JSON.parse(content).body.elements[0].content).toBe("[chart](https://b.c/d.png) **Now?**");
  });

  it("takes a card for headings and tables, but not for those inside code", () => {
    const table = "| a | b |\n| --- | :-: |\n| 1 | 2 |";
    expect(cardText(`# Title\n\n${table}`)).toBe(`# Title\n\n${table}`);
    expect(markdown(table).msgType).toBe("interactive");
    expect(markdown("a | b\n--- | ---\n1 | 2").msgType).toBe("interactive");
    expect(markdown("```sh\n# comment\n| a | b |\n| --- | --- |\n```").msgType).toBe("post");
    expect(markdown("#hashtag and a | b").msgType).toBe("post");
  });

  it("knows headings however they are written", () => {
    for (const text of ["Title\n===", "Title\n---", "- # Title", "> Title\n> ---", "#", "a\n\n###### Title"])
      expect([text, markdown(text).msgType]).toEqual([text, "interactive"]);
  });

  it("shows tables beyond what a card takes as they are written", () => {
    const table = (n: number) => `| t${n} |\n| --- |\n| x |`;
    const text = Array.from({ length: 6 }, (_, n) => table(n)).join("\n\n");
    const fenced = (n: number) => `\`\`\`\n${table(n)}\n\`\`\``;
    expect(cardText(text)).toBe([table(0), table(1), table(2), table(3), fenced(4), fenced(5)].join("\n\n"));
  });

  it("makes links of images, except inside code", () => {
    const text = '![logo](https://a.b/c.png "t") and ![](x.png)\n```\n![a](b)\n```';
    expect(contentOf(text).zh_cn.content[0][0].text).toBe(
      "[logo](https://a.b/c.png) and [image](x.png)\n```\n![a](b)\n```",
    );
  });

  it("lets nobody be called by a tag in the text", () => {
    for (const text of ['<at user_id="all"></at>', "**x** <AT id=all></AT>", '# x\n<at id="all">']) {
      expect(markdown(text).content.toLowerCase()).not.toMatch(/<\/?at/);
      expect(renderPart({ type: "text", text }).content.toLowerCase()).not.toMatch(/<\/?at/);
    }
    expect(markdown("<attribute>").content).toContain("<attribute>");
  });

  it("makes no link of plain words, which strangers may have written", () => {
    const text = "[your bank](https://x.example)";
    expect(renderPart({ type: "text", text }).content).toBe(
      JSON.stringify({ text: "[your bank]\u200b(https://x.example)" }),
    );
    expect(renderCard({ type: "text", text })).toContain(text);
  });

  it("refuses what is empty, too long, or has too much on its buttons", () => {
    const code = (part: Parameters<typeof renderPart>[0]) => {
      try {
        renderPart(part);
        return undefined;
      } catch (error) {
        return isChannelError(error) ? error.code : error;
      }
    };
    const button = { id: "a", label: "A" };
    expect(code({ type: "text", text: " \n" })).toBe("invalid");
    expect(code({ type: "text", text: "\u0000" })).toBe("invalid");
    expect(code({ type: "text", text: "x".repeat(limits.partBytes + 1) })).toBe("too_large");
    expect(code({ type: "buttons", text: "?", buttons: Array.from({ length: 21 }, () => button) })).toBe(
      "too_large",
    );
    expect(code({ type: "buttons", text: "?", buttons: [{ ...button, value: "x".repeat(1000) }] })).toBe(
      "too_large",
    );
    expect(code({ type: "buttons", text: "?", buttons: [button] })).toBeUndefined();
  });

  it("fits a card or rich text whatever a full part holds", () => {
    const piece = fc.constantFrom(
      '"',
      "\\",
      "\n",
      "<at",
      "\u0001",
      "\ud83d",
      "😀",
      "你",
      "a",
      "`",
      "| ",
      "\n---|---\n",
      "# ",
      "![](",
    );
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 12 }), (pieces) => {
        const unit = pieces.join("");
        const times = Math.floor(limits.partBytes / Buffer.byteLength(unit));
        const text = `x${unit.repeat(times)}`.slice(0, limits.partBytes);
        if (Buffer.byteLength(text) > limits.partBytes) return;
        const rendered = markdown(text);
        expect(Buffer.byteLength(rendered.content)).toBeLessThanOrEqual(limits.cardBytes);
      }),
      { numRuns: 40 },
    );
  });
});

it("converts a long row of line breaks quickly", () => {
  const { user } = process.cpuUsage();
  toFeishu(`a${"\n".repeat(60_000)}b`);
  // In microseconds. A search from each line break takes some seconds.
  expect(process.cpuUsage().user - user).toBeLessThan(1_000_000);
});
