import { loadMarkdown } from "@signalbox/channel";
import type { InputRichBlock, RichText } from "grammy/types";
import type { List, ListItem, Nodes, Parents, Table } from "mdast";
import { limits } from "../limits.ts";
import { opens } from "./links.ts";

/** A block of words: nothing is uploaded with it. */
export type RichBlock = InputRichBlock;

/**
 * Markdown as the blocks of a rich message. Undefined where text and entities show it all, and where Telegram would
 * not take it: that is what the other way is for.
 */
export function toRich(markdown: string): readonly RichBlock[] | undefined {
  const { parseMarkdown, sourceOf } = loadMarkdown();
  const { source, root } = parseMarkdown(markdown, { formulas: true });
  if (!needsBlocks(root, false)) return undefined;
  const reader = new BlockReader((node) => sourceOf(source, node));
  const blocks = reader.blocks(root, 1);
  return reader.isSendable ? blocks : undefined;
}

/** It holds a heading, a table, a formula or a list in a list, for which there are no entities. */
function needsBlocks(node: Nodes, isInList: boolean): boolean {
  if (node.type === "heading" || node.type === "table") return true;
  if (node.type === "list" && isInList) return true;
  if (node.type === "inlineCode" && node.data?.formula !== undefined) return true;
  const isList = isInList || node.type === "list";
  return "children" in node && node.children.some((child) => needsBlocks(child, isList));
}

/**
 * Makes blocks of a tree, and counts what Telegram limits. Its 32,768 characters are out of reach: a part of an answer
 * is cut at 4,096.
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
          ...(node.lang ? { language: node.lang.slice(0, 64) } : {}),
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
        // HTML and footnotes stay as they were written.
        return { type: "paragraph", text: this.#said(this.#source(node)) };
    }
  }

  #item(item: ListItem, { ordered, start }: List, index: number, depth: number) {
    this.#enter(depth);
    return {
      blocks: this.blocks(item, depth + 1),
      ...(typeof item.checked === "boolean" ? { has_checkbox: true as const } : {}),
      ...(item.checked === true ? { is_checked: true as const } : {}),
      ...(ordered === true ? { value: (start ?? 1) + index, type: "1" as const } : {}),
    };
  }

  #table({ children: rows, align = [] }: Table, depth: number): RichBlock {
    const cells = rows.map((row, index) => {
      this.#enter(depth);
      this.#widest = Math.max(this.#widest, row.children.length);
      return row.children.map((cell, column) => ({
        // A cell without words has none in Telegram, either.
        ...(cell.children.length === 0 ? {} : { text: this.#words(cell, depth) }),
        ...(index === 0 ? { is_header: true as const } : {}),
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

/** A paragraph that is one formula and no more. */
function displayFormula({ children }: Parents): RichBlock | undefined {
  const [only, ...more] = children;
  if (more.length > 0 || only?.type !== "inlineCode" || only.data?.formula !== "display") return undefined;
  return { type: "mathematical_expression", expression: only.value };
}

/** What cannot be tapped is at least to be read. */
function linked(text: RichText, url: string): RichText {
  return opens(url) ? { type: "url", text, url } : [text, ` (${url})`];
}
