import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limits } from "../limits.ts";
import { toTelegram } from "./markdown.ts";

/** Returns the text covered by each entity. */
function marked(markdown: string): { text: string; marks: (readonly [string, string])[] } {
  const { text, entities } = toTelegram(markdown);
  const marks = entities.map(
    ({ type, offset, length }) => [type, text.slice(offset, offset + length)] as const,
  );
  return { text, marks };
}

describe("Markdown for Telegram", () => {
  it("formats lists, headings, quotes and rules as text", () => {
    expect(
      marked("# Title\n\n- one\n- two\n  1. deep\n\n- [x] done\n\n> said\n> > inner\n\n---\n\nend"),
    ).toEqual({
      text: "Title\n\n• one\n• two\n    1. deep\n☑ done\n\nsaid\ninner\n\n———\n\nend",
      marks: [
        ["bold", "Title"],
        ["blockquote", "said\ninner"],
      ],
    });
  });

  it("keeps code unchanged, with its language", () => {
    const { text, entities } = toTelegram("Run:\n\n```sh\nls *  # **all**\n```\n\nand `**x**`");
    expect(text).toBe("Run:\n\nls *  # **all**\n\nand **x**");
    expect(entities).toEqual([
      { type: "pre", language: "sh", offset: 6, length: 15 },
      { type: "code", offset: 27, length: 5 },
    ]);
  });

  it("ends a code entity before the following text, however many blank lines the code ends with", () => {
    expect(marked("```\na\n\n\n\n\n```\nnext *one*")).toEqual({
      text: "a\n\nnext one",
      marks: [
        ["pre", "a"],
        ["italic", "one"],
      ],
    });
  });

  it("draws tables in columns, with Chinese characters two columns wide", () => {
    const { text, entities } = toTelegram("| 名称 | n |\n| --- | --- |\n| a | 10 |\n| 北京 | 2 |");
    expect(text.split("\n")).toEqual(["名称 │ n", "─────┼───", "a    │ 10", "北京 │ 2"]);
    expect(entities).toEqual([{ type: "pre", offset: 0, length: text.length }]);
  });

  it("writes out the URL of a link that Telegram does not accept", () => {
    expect(marked("[a](file:///etc/passwd) [b](https://example.org)")).toEqual({
      text: "a (file:///etc/passwd) b",
      marks: [["text_link", "b"]],
    });
  });

  it("keeps the source if the formatted text exceeds the message limit", () => {
    const wide = `| a | b |\n| --- | --- |\n${`| ${"x".repeat(60)} | y |\n| z | z |\n`.repeat(40)}`;
    expect(wide.length).toBeLessThan(limits.partLength);
    expect(toTelegram(wide)).toEqual({ text: wide, entities: [] });
  });

  it("writes out the URLs of a text with more entities than Telegram accepts", () => {
    const links = Array.from({ length: 101 }, (_, at) => `[${at}](https://e.org/${at})`);
    expect(toTelegram(links.slice(0, 100).join(" ")).entities).toHaveLength(100);
    const { text, entities } = toTelegram(links.join(" "));
    expect(entities).toEqual([]);
    expect(text.split(") ")[100]).toBe("100 (https://e.org/100)");
  });

  it("starts a new entity after the enclosing entity ended", () => {
    const { text, entities } = toTelegram("*[![i](https://e.org/i.png)*![i](https://e.org/i.png)");
    expect(text).toBe("[ii");
    expect(entities.map(({ type, offset, length }) => [type, offset, length])).toEqual([
      ["italic", 0, 2],
      ["text_link", 1, 1],
      ["text_link", 2, 1],
    ]);
  });

  it("never produces entities that Telegram rejects", () => {
    const piece = fc.constantFrom(
      ...[
        "**",
        "*",
        "_",
        "`",
        "```\n",
        "~~",
        "> ",
        "- ",
        "1. ",
        "[",
        "](https://e.org)",
        "](x)",
        "| a | b |\n| - | - |\n",
      ],
      ...[
        "\n",
        "\n\n",
        "# ",
        "word ",
        "字 ",
        "😀",
        "<b>",
        "![i](https://e.org/i.png)",
        "\\",
        "&amp;",
        "    ",
        "[^1]",
        "[x] ",
      ],
    );
    const texts = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(texts, (markdown) => {
        const { text, entities } = toTelegram(markdown);
        if (markdown.trim() !== "") expect(text.trim()).not.toBe("");
        expect(text.length).toBeLessThanOrEqual(Math.max(limits.partLength, markdown.length));
        expect(entities.length).toBeLessThanOrEqual(limits.entities);
        for (const [index, a] of entities.entries()) {
          expect(a.length).toBeGreaterThan(0);
          expect(a.offset + a.length).toBeLessThanOrEqual(text.length);
          for (const b of entities.slice(index + 1)) {
            const meet = a.offset < b.offset + b.length && b.offset < a.offset + a.length;
            if (!meet) continue;
            const holds = a.offset <= b.offset && b.offset + b.length <= a.offset + a.length;
            expect(holds, JSON.stringify([markdown, a, b])).toBe(true);
            const isCode = [a, b].some(({ type }) => type === "code" || type === "pre");
            if (isCode) expect([a.type, b.type]).toContain("blockquote");
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
