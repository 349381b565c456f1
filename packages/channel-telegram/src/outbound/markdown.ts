import { loadMarkdown } from "@signalbox/channel";
import type { Blockquote, List, Nodes, Parents, Table } from "mdast";
import { limits } from "../limits.ts";
import { type FormattedText, FormattedWriter, type Look } from "./formatted.ts";
import { opens } from "./links.ts";

/** A text without any of these reads the same as Markdown, and need not be parsed. */
const marks = /[*_`~#>|[\]\\&]|:\/\/|^\s*(?:[-+]|\d+[.)])\s|^\s*(?:-{3,}|={3,})\s*$/m;

/**
 * Markdown as words with entities, which Telegram cannot fail to read. Where that would be longer than a message may
 * be (a table that is drawn is longer than one that is written), it stays as it was written.
 */
export function toTelegram(markdown: string): FormattedText {
  const plain = { text: markdown, entities: [] };
  if (!marks.test(markdown)) return plain;
  const { parseMarkdown, sourceOf } = loadMarkdown();
  const { source, root } = parseMarkdown(markdown);
  const writer = new FormattedWriter();
  new TreeWriter(writer, (node) => sourceOf(source, node)).blocks(root, [], "\n\n");
  const formatted = writer.end();
  const isSendable = formatted.text.length <= limits.partLength && formatted.text.trim() !== "";
  return isSendable ? formatted : plain;
}

class TreeWriter {
  readonly #writer: FormattedWriter;
  readonly #source: (node: Nodes) => string;
  #isInQuote = false;

  constructor(writer: FormattedWriter, source: (node: Nodes) => string) {
    this.#writer = writer;
    this.#source = source;
  }

  blocks(parent: Parents, looks: readonly Look[], gap: string): void {
    for (const [index, child] of parent.children.entries()) {
      if (index > 0) this.#writer.separate(gap);
      this.#node(child, looks);
    }
  }

  #inline(parent: Parents, looks: readonly Look[]): void {
    for (const child of parent.children) this.#node(child, looks);
  }

  #node(node: Nodes, looks: readonly Look[]): void {
    switch (node.type) {
      case "paragraph":
        this.#inline(node, looks);
        break;
      case "heading":
      case "strong":
        this.#inline(node, withLook(looks, { type: "bold" }));
        break;
      case "emphasis":
        this.#inline(node, withLook(looks, { type: "italic" }));
        break;
      case "delete":
        this.#inline(node, withLook(looks, { type: "strikethrough" }));
        break;
      case "link":
        this.#link(node, node.url, looks);
        break;
      case "blockquote":
        this.#quote(node, looks);
        break;
      case "list":
        this.#list(node, looks, "");
        break;
      default:
        this.#writer.write(...this.#leaf(node, looks));
    }
  }

  /** The words of a node without children, and how they look. */
  #leaf(node: Nodes, looks: readonly Look[]): readonly [words: string, looks: readonly Look[]] {
    switch (node.type) {
      case "text":
        return [node.value, looks];
      case "break":
        return ["\n", looks];
      case "inlineCode":
        // Of a stretch of code nothing else may be said.
        return [node.value, [{ type: "code" }]];
      case "code":
        return [node.value || " ", [pre(node.lang)]];
      case "table":
        return [drawTable(node, this.#source), [{ type: "pre" }]];
      case "thematicBreak":
        return ["———", looks];
      case "image":
        return [node.alt || "image", withLook(looks, linkTo(node.url))];
      default:
        // HTML, references and footnotes stay as they were written.
        return [this.#source(node), looks];
    }
  }

  #link(node: Parents, url: string, looks: readonly Look[]): void {
    const link = linkTo(url);
    this.#inline(node, withLook(looks, link));
    // What cannot be tapped is at least to be read.
    if (link === undefined && url !== "") this.#writer.write(` (${url})`, looks);
  }

  /** Quotes hold no quotes: an inner one is part of the outer one. */
  #quote(quote: Blockquote, looks: readonly Look[]): void {
    const isInner = this.#isInQuote;
    const start = this.#writer.length;
    this.#isInQuote = true;
    this.blocks(quote, looks, "\n");
    this.#isInQuote = isInner;
    if (!isInner) this.#writer.mark({ type: "blockquote" }, start);
  }

  #list(list: List, looks: readonly Look[], indent: string): void {
    for (const [index, item] of list.children.entries()) {
      if (index > 0) this.#writer.separate("\n");
      const number = `${(list.start ?? 1) + index}. `;
      const box = item.checked === true ? "☑ " : "☐ ";
      const bullet = list.ordered === true ? number : "• ";
      this.#writer.write(indent + (typeof item.checked === "boolean" ? box : bullet), looks);
      for (const [part, child] of item.children.entries()) {
        if (part > 0) this.#writer.separate("\n");
        if (child.type === "list") this.#list(child, looks, `${indent}    `);
        else this.#node(child, looks);
      }
    }
  }
}

function withLook(looks: readonly Look[], look: Look | undefined): readonly Look[] {
  return look === undefined || looks.some(({ type }) => type === look.type) ? looks : [...looks, look];
}

function pre(language: string | null | undefined): Look {
  return language ? { type: "pre", language: language.slice(0, 64) } : { type: "pre" };
}

/** Telegram opens these alone; undefined for the rest. */
function linkTo(url: string): Look | undefined {
  return opens(url) ? { type: "text_link", url } : undefined;
}

/** Telegram knows no tables: columns are lined up for a font of one width. */
function drawTable(table: Table, source: (node: Nodes) => string): string {
  const rows = table.children.map((row) =>
    row.children.map((cell) =>
      cell.children
        .map((child) => wordsOf(child, source))
        .join("")
        .replace(/\s+/g, " "),
    ),
  );
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ""))),
  );
  const lines = rows.map((row) =>
    widths
      .map((width, column) => padded(row[column] ?? "", width))
      .join(" │ ")
      .trimEnd(),
  );
  const rule = widths.map((width) => "─".repeat(width)).join("─┼─");
  return [...lines.slice(0, 1), rule, ...lines.slice(1)].join("\n");
}

function wordsOf(node: Nodes, source: (node: Nodes) => string): string {
  if ("children" in node) return node.children.map((child) => wordsOf(child, source)).join("");
  return "value" in node ? node.value : source(node);
}

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** Columns that a text takes: East Asian characters and emoji are two wide. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text)
    width +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
        character,
      )
        ? 2
        : 1;
  return width;
}
