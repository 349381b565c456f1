import { getSource, parseMarkdown } from "@signalbox/channel/markdown";
import type { InputRichBlock, RichText } from "grammy/types";
import type { List, ListItem, Nodes, Parents, Table } from "mdast";
import { limits } from "../limits.ts";
import { isLink } from "./formatted.ts";

/** A text block. It requires no upload. */
export type RichBlock = InputRichBlock;

/**
 * Converts Markdown to the blocks of a rich message.
 *
 * @returns `undefined` if text with entities shows everything, or if the blocks exceed Telegram's limits
 */
export function toRich(markdown: string): readonly RichBlock[] | undefined {
  const { source, root } = parseMarkdown(markdown, { formulas: true });
  if (!needsBlocks(root, false)) return undefined;
  const reader = new BlockReader((node) => getSource(source, node));
  const blocks = reader.blocks(root, 1);
  return reader.isSendable ? blocks : undefined;
}

/** Returns true if the tree contains a heading, a table, a formula or a nested list, which entities cannot express. */
function needsBlocks(node: Nodes, isInList: boolean): boolean {
  if (node.type === "heading" || node.type === "table") return true;
  if (node.type === "list" && isInList) return true;
  if (node.type === "inlineCode" && node.data?.formula !== undefined) return true;
  const isList = isInList || node.type === "list";
  return "children" in node && node.children.some((child) => needsBlocks(child, isList));
}

/**
 * Builds blocks and counts them against Telegram's limits. The limit of 32,768 characters cannot be reached,
 * because the host splits an answer at 4,096.
 */
class BlockReader {
  readonly #source: (node: Nodes) => string;
  #count = 0;
  #deepest = 0;
  #widest = 0;
  #hasEmpty = false;

  constructor(source: (node: Nodes) => string) {
    this.#source = source;
  }

  get isSendable(): boolean {
    const { blocks, depth, columns } = limits.rich;
    const fits = this.#count <= blocks && this.#deepest <= depth && this.#widest <= columns;
    return fits && !this.#hasEmpty;
  }

  blocks({ children }: Parents, depth: number): RichBlock[] {
    this.#hasEmpty ||= children.length === 0;
    return children.map((child) => this.#block(child, depth));
  }

  #block(node: Nodes, depth: number): RichBlock {
    this.#enter(depth);
    switch (node.type) {
      case "paragraph":
        return displayFormula(node) ?? { type: "paragraph", text: this.#words(node, depth) };
      case "heading":
        return { type: "heading", text: this.#words(node, depth), size: node.depth };
      case "code":
        return {
          type: "pre",
          text: this.#said(node.value),
          language: node.lang ? node.lang.slice(0, 64) : undefined,
        };
      case "blockquote":
        return { type: "blockquote", blocks: this.blocks(node, depth + 1) };
      case "list":
        return {
          type: "list",
          items: node.children.map((item, at) => this.#item(item, node, at, depth + 1)),
        };
      case "table":
        return this.#table(node, depth + 1);
      case "thematicBreak":
        return { type: "divider" };
      default:
        // HTML and footnotes are shown as source.
        return { type: "paragraph", text: this.#said(this.#source(node)) };
    }
  }

  #item(item: ListItem, { ordered, start }: List, index: number, depth: number) {
    this.#enter(depth);
    return {
      blocks: this.blocks(item, depth + 1),
      has_checkbox: typeof item.checked === "boolean" ? (true as const) : undefined,
      is_checked: item.checked === true ? (true as const) : undefined,
      ...(ordered === true ? { value: (start ?? 1) + index, type: "1" as const } : {}),
    };
  }

  #table({ children: rows, align = [] }: Table, depth: number): RichBlock {
    const cells = rows.map((row, index) => {
      this.#enter(depth);
      this.#widest = Math.max(this.#widest, row.children.length);
      return row.children.map((cell, column) => ({
        // Telegram represents an empty cell by omitting its text.
        text: cell.children.length === 0 ? undefined : this.#words(cell, depth),
        is_header: index === 0 ? (true as const) : undefined,
        align: align?.[column] ?? ("left" as const),
        valign: "top" as const,
      }));
    });
    return { type: "table", cells, is_bordered: true };
  }

  #words(parent: Parents, depth: number): RichText {
    const texts = parent.children.map((child) => this.#inline(child, depth + 1));
    this.#hasEmpty ||= texts.length === 0;
    const [first = "", ...more] = texts;
    return more.length === 0 ? first : texts;
  }

  #inline(node: Nodes, depth: number): RichText {
    this.#deepest = Math.max(this.#deepest, depth);
    switch (node.type) {
      case "text":
        return node.value;
      case "strong":
        return { type: "bold", text: this.#words(node, depth) };
      case "emphasis":
        return { type: "italic", text: this.#words(node, depth) };
      case "delete":
        return { type: "strikethrough", text: this.#words(node, depth) };
      case "inlineCode":
        return node.data?.formula === undefined
          ? { type: "code", text: this.#said(node.value) }
          : { type: "mathematical_expression", expression: this.#said(node.value) };
      case "break":
        return "\n";
      case "link":
        return linked(this.#words(node, depth), node.url);
      case "image":
        return linked(node.alt || "image", node.url);
      default:
        return this.#source(node);
    }
  }

  #enter(depth: number): void {
    this.#count += 1;
    this.#deepest = Math.max(this.#deepest, depth);
  }

  #said(words: string): string {
    this.#hasEmpty ||= words.trim() === "";
    return words;
  }
}

/** A paragraph that consists of one display formula. */
function displayFormula({ children }: Parents): RichBlock | undefined {
  const [only, ...more] = children;
  if (more.length > 0 || only?.type !== "inlineCode" || only.data?.formula !== "display") return undefined;
  return { type: "mathematical_expression", expression: only.value };
}

/** A URL that Telegram does not accept as a link is written after the text. */
function linked(text: RichText, url: string): RichText {
  return isLink(url) ? { type: "url", text, url } : [text, ` (${url})`];
}
