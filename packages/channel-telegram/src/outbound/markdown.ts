import { getSource, parseMarkdown, toPlainText } from "@signalbox/channel/markdown";
import type { Blockquote, List, Nodes, Parents, Table } from "mdast";
import { limits } from "../limits.ts";
import { type FormattedText, FormattedWriter, isLink, type Style } from "./formatted.ts";

/** Characters that can start markup. Text without them needs no parsing. */
const marks = /[*_`~#>|[\]\\&]|:\/\/|^\s*(?:[-+]|\d+[.)])\s|^\s*(?:-{3,}|={3,})\s*$/m;

/**
 * Converts Markdown to text with entities, which Telegram cannot fail to parse. Returns the source unchanged if the
 * result would exceed the message limit, for instance because a rendered table is wider than its source. If there are
 * more entities than Telegram accepts, all of them are omitted and URLs are written out.
 */
export function toTelegram(markdown: string): FormattedText {
  const plain = { text: markdown, entities: [] };
  if (!marks.test(markdown)) return plain;
  const { source, root } = parseMarkdown(markdown);
  const writer = new FormattedWriter();
  new TreeWriter(writer, (node) => getSource(source, node)).blocks(root, [], "\n\n");
  const written = writer.end();
  const hasTooMany = written.entities.length > limits.entities;
  const formatted = hasTooMany ? { text: toPlainText(markdown), entities: [] } : written;
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

  blocks(parent: Parents, styles: readonly Style[], gap: string): void {
    for (const [index, child] of parent.children.entries()) {
      if (index > 0) this.#writer.separate(gap);
      this.#node(child, styles);
    }
  }

  #inline(parent: Parents, styles: readonly Style[]): void {
    for (const child of parent.children) this.#node(child, styles);
  }

  #node(node: Nodes, styles: readonly Style[]): void {
    switch (node.type) {
      case "paragraph":
        this.#inline(node, styles);
        break;
      case "heading":
      case "strong":
        this.#inline(node, addStyle(styles, { type: "bold" }));
        break;
      case "emphasis":
        this.#inline(node, addStyle(styles, { type: "italic" }));
        break;
      case "delete":
        this.#inline(node, addStyle(styles, { type: "strikethrough" }));
        break;
      case "link":
        this.#link(node, node.url, styles);
        break;
      case "blockquote":
        this.#quote(node, styles);
        break;
      case "list":
        this.#list(node, styles, "");
        break;
      default:
        this.#writer.write(...this.#leaf(node, styles));
    }
  }

  /** Returns the text of a node without children, and its styles. */
  #leaf(node: Nodes, styles: readonly Style[]): readonly [words: string, styles: readonly Style[]] {
    switch (node.type) {
      case "text":
        return [node.value, styles];
      case "break":
        return ["\n", styles];
      case "inlineCode":
        // Code cannot be combined with other entities.
        return [node.value, [{ type: "code" }]];
      case "code":
        return [node.value || " ", [pre(node.lang)]];
      case "table":
        return [drawTable(node, this.#source), [{ type: "pre" }]];
      case "thematicBreak":
        return ["———", styles];
      case "image":
        return [node.alt || "image", addStyle(styles, createLinkStyle(node.url))];
      default:
        // HTML, references and footnotes are shown as source.
        return [this.#source(node), styles];
    }
  }

  #link(node: Parents, url: string, styles: readonly Style[]): void {
    const link = createLinkStyle(url);
    this.#inline(node, addStyle(styles, link));
    // A URL that Telegram does not accept as a link is written after the text.
    if (link === undefined && url !== "") this.#writer.write(` (${url})`, styles);
  }

  /** Telegram does not nest quotes, so an inner quote becomes part of the outer one. */
  #quote(quote: Blockquote, styles: readonly Style[]): void {
    const isInner = this.#isInQuote;
    const start = this.#writer.length;
    this.#isInQuote = true;
    this.blocks(quote, styles, "\n");
    this.#isInQuote = isInner;
    if (!isInner) this.#writer.mark({ type: "blockquote" }, start);
  }

  #list(list: List, styles: readonly Style[], indent: string): void {
    for (const [index, item] of list.children.entries()) {
      if (index > 0) this.#writer.separate("\n");
      const number = `${(list.start ?? 1) + index}. `;
      const box = item.checked === true ? "☑ " : "☐ ";
      const bullet = list.ordered === true ? number : "• ";
      this.#writer.write(indent + (typeof item.checked === "boolean" ? box : bullet), styles);
      for (const [part, child] of item.children.entries()) {
        if (part > 0) this.#writer.separate("\n");
        if (child.type === "list") this.#list(child, styles, `${indent}    `);
        else this.#node(child, styles);
      }
    }
  }
}

function addStyle(styles: readonly Style[], style: Style | undefined): readonly Style[] {
  return style === undefined || styles.some(({ type }) => type === style.type) ? styles : [...styles, style];
}

function pre(language: string | null | undefined): Style {
  return language ? { type: "pre", language: language.slice(0, 64) } : { type: "pre" };
}

/** Returns the link style, or `undefined` if Telegram does not accept the URL. */
function createLinkStyle(url: string): Style | undefined {
  return isLink(url) ? { type: "text_link", url } : undefined;
}

/** Renders a table in columns for a monospaced font, since Telegram has no table entity. */
function drawTable(table: Table, source: (node: Nodes) => string): string {
  const rows = table.children.map((row) =>
    row.children.map((cell) =>
      cell.children
        .map((child) => getText(child, source))
        .join("")
        .replace(/\s+/g, " "),
    ),
  );
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => getDisplayWidth(row[column] ?? ""))),
  );
  const lines = rows.map((row) =>
    widths
      .map((width, column) => padToWidth(row[column] ?? "", width))
      .join(" │ ")
      .trimEnd(),
  );
  const rule = widths.map((width) => "─".repeat(width)).join("─┼─");
  return [...lines.slice(0, 1), rule, ...lines.slice(1)].join("\n");
}

function getText(node: Nodes, source: (node: Nodes) => string): string {
  if ("children" in node) return node.children.map((child) => getText(child, source)).join("");
  return "value" in node ? node.value : source(node);
}

function padToWidth(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - getDisplayWidth(text)));
}

/** Returns the display width in columns. East Asian characters and emoji take two columns. */
function getDisplayWidth(text: string): number {
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
