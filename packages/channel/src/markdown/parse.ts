import type { Link, Nodes, Parents, Root, Text } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { cjkFriendlyExtension } from "micromark-extension-cjk-friendly";
import { gfm } from "micromark-extension-gfm";
import { normalizeLineEnds } from "../text.ts";
import { checkBoxesFromMarkdown } from "./check-boxes.ts";
import { isTooComplex } from "./complexity.ts";
import { formulas, formulasFromMarkdown } from "./formulas.ts";

declare module "mdast" {
  interface InlineCodeData {
    /** Set if the code is a TeX formula. */
    formula?: "inline" | "display";
  }
}

/** A text and its syntax tree. Offsets in the tree are indexes into `source`. */
export interface MarkdownDocument {
  /**
   * The text with `\n` line endings.
   */
  readonly source: string;
  readonly root: Root;
}

export interface MarkdownOptions {
  /** Parses formulas as inline code with `data.formula`. Default: they remain text. */
  readonly formulas?: boolean;
}

/**
 * Parses CommonMark with GFM (tables, task lists, strikethrough, footnotes, bare URLs). HTML remains text. A text that
 * would take too long to parse becomes one paragraph of plain text.
 */
export function parseMarkdown(text: string, options: MarkdownOptions = {}): MarkdownDocument {
  const source = normalizeLineEnds(text);
  if (isTooComplex(source)) return { source, root: createPlainRoot(source) };
  const root = fromMarkdown(source, {
    // Plain CommonMark would require a space after the emphasis in 这是**重点：**后面.
    extensions: [
      gfm({ singleTilde: false }),
      cjkFriendlyExtension(),
      ...(options.formulas === true ? [formulas()] : []),
    ],
    // The transforms would search for URLs a second time and create nodes without positions.
    mdastExtensions: [
      ...gfmFromMarkdown().map((extension) => ({ ...extension, transforms: [] })),
      checkBoxesFromMarkdown(),
      formulasFromMarkdown(),
    ],
  });
  endBareUrlsAtCjk(root, source);
  return { source, root };
}

/** Returns the entire text as one paragraph. */
function createPlainRoot(source: string): Root {
  const lines = source.split("\n");
  const start = { line: 1, column: 1, offset: 0 };
  const end = { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1, offset: source.length };
  const position = { start, end };
  const children: Text[] = [{ type: "text", value: source, position }];
  return { type: "root", children: [{ type: "paragraph", children, position }], position };
}

/** Returns the Markdown source of a node. */
export function getSource(source: string, node: Nodes): string {
  return source.slice(startOf(node), endOf(node));
}

export function startOf(node: Nodes): number {
  return node.position?.start.offset ?? 0;
}

export function endOf(node: Nodes): number {
  return node.position?.end.offset ?? 0;
}

export function isParent(node: Nodes): node is Parents {
  return "children" in node;
}

/** Returns true for a URL without angle brackets. */
function isBareUrl(node: Nodes, source: string): node is Link {
  return node.type === "link" && !/[[<]/.test(source.charAt(startOf(node)));
}

/** Characters of scripts that do not put a space after a URL. */
const EAST_ASIAN = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/;

/** Ends bare URLs at the first East Asian character. GFM would extend them up to the next space. */
function endBareUrlsAtCjk(parent: Parents, source: string): void {
  for (const [index, child] of [...parent.children.entries()].toReversed()) {
    if (isBareUrl(child, source)) {
      const rest = cutUrl(child, source);
      if (rest !== undefined) parent.children.splice(index + 1, 0, rest);
    } else if (isParent(child)) endBareUrlsAtCjk(child, source);
  }
}

/** Shortens a link and returns the rest as text. */
function cutUrl(link: Link, source: string): Text | undefined {
  const shown = getSource(source, link);
  const length = shown.search(EAST_ASIAN);
  const [label] = link.children;
  const { position } = link;
  if (length < 0 || label?.type !== "text" || position === undefined) return undefined;
  const { start, end } = position;
  const cut = { ...start, column: start.column + length, offset: startOf(link) + length };
  link.url = link.url.slice(0, link.url.length - (shown.length - length));
  link.position = { start, end: cut };
  label.value = shown.slice(0, length);
  label.position = { start, end: cut };
  return { type: "text", value: shown.slice(length), position: { start: cut, end } };
}
