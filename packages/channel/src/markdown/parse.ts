import type { Link, Nodes, Parents, Root, Text } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { cjkFriendlyExtension } from "micromark-extension-cjk-friendly";
import { gfm } from "micromark-extension-gfm";
import { normalizeLineEnds } from "../text.ts";
import { checkBoxesFromMarkdown } from "./check-boxes.ts";
import { formulas, formulasFromMarkdown } from "./formulas.ts";
import {
  hasTooManyBlocks,
  hasTooManyContainers,
  hasTooManyMarks,
  hasTooManyUnderlines,
} from "./slow-texts.ts";

declare module "mdast" {
  interface InlineCodeData {
    /** It is a formula in TeX, which stands in a line, or in one of its own. */
    formula?: "inline" | "display";
  }
}

/** A text and its tree. Offsets in the tree are indexes into `source`. */
export interface MarkdownDocument {
  /** With `\n` line ends. */
  readonly source: string;
  readonly root: Root;
}

export interface MarkdownOptions {
  /** Formulas become code, marked in its `data`, for readers that can show them. Default: they stay text. */
  readonly formulas?: boolean;
}

/**
 * Parses CommonMark with GFM (tables, task lists, strikethrough, footnotes, bare addresses). HTML stays text. A text
 * made to be slow (thousands of brackets in one paragraph, dozens of nested quotes) is parsed without what makes it
 * slow, and one with absurdly many blocks is one paragraph of plain text, so that no message holds up the others.
 */
export function parseMarkdown(text: string, options: MarkdownOptions = {}): MarkdownDocument {
  const source = normalizeLineEnds(text);
  if (hasTooManyBlocks(source)) return { source, root: plainRoot(source) };
  const disabled = [
    ...(hasTooManyContainers(source) ? containers : []),
    ...(hasTooManyUnderlines(source) ? underlines : []),
    ...(hasTooManyMarks(source) ? spans : []),
  ];
  const root = fromMarkdown(source, {
    // CommonMark alone ends no emphasis in 这是**重点：**后面, for want of a space.
    extensions: [
      gfm({ singleTilde: false }),
      cjkFriendlyExtension(),
      ...(options.formulas === true ? [formulas()] : []),
      { disable: { null: disabled } },
    ],
    // The transforms look for addresses a second time, and give nodes without a place.
    mdastExtensions: [
      ...gfmFromMarkdown().map((extension) => ({ ...extension, transforms: [] })),
      checkBoxesFromMarkdown(),
      formulasFromMarkdown(),
    ],
  });
  endBareUrlsAtCjk(root, source);
  return { source, root };
}

const containers = ["blockQuote", "list"];
const underlines = ["setextUnderline", "list"];
const spans = [
  ...["attention", "strikethrough", "labelStartLink", "labelStartImage", "labelEnd", "autolink", "htmlText"],
  ...["wwwAutolink", "protocolAutolink", "emailAutolink"],
  ...["definition", "gfmFootnoteDefinition", "gfmFootnoteCall", "gfmPotentialFootnoteCall"],
];

/** The whole text as one paragraph, whatever it holds. */
function plainRoot(source: string): Root {
  const lines = source.split("\n");
  const start = { line: 1, column: 1, offset: 0 };
  const end = { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1, offset: source.length };
  const position = { start, end };
  const children: Text[] = [{ type: "text", value: source, position }];
  return { type: "root", children: [{ type: "paragraph", children, position }], position };
}

/** The text of a node as it was written. */
export function sourceOf(source: string, node: Nodes): string {
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

/** An address without brackets around it. */
function isBareAddress(node: Nodes, source: string): node is Link {
  return node.type === "link" && !/[[<]/.test(source.charAt(startOf(node)));
}

/** Languages that put no space behind an address. */
const eastAsian = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/;

/** Bare addresses end at the first East Asian character: GFM has them go on to the next space. */
function endBareUrlsAtCjk(parent: Parents, source: string): void {
  for (const [index, child] of [...parent.children.entries()].toReversed()) {
    if (isBareAddress(child, source)) {
      const rest = cutAddress(child, source);
      if (rest !== undefined) parent.children.splice(index + 1, 0, rest);
    } else if (isParent(child)) endBareUrlsAtCjk(child, source);
  }
}

/** Shortens the link; gives what was cut off as text. */
function cutAddress(link: Link, source: string): Text | undefined {
  const shown = sourceOf(source, link);
  const length = shown.search(eastAsian);
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
