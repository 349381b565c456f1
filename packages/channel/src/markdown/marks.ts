import type { Nodes } from "mdast";
import { isParent, parseMarkdown } from "./parse.ts";

/** Everything that can begin or end formatted text: emphasis, code, links, headings, quotes and tables. */
const MARKUP = /[*_~`]+|\]\(|:\/\/|www\.|@|^[^\S\n]*(?:[#>|]|[=-]+[^\S\n]*$)|^(?: {4}|\t)/gm;

/** Node types that style the text inside them. Code inside them interrupts the style. */
const STYLES: readonly Nodes["type"][] = ["heading", "strong", "emphasis", "delete", "link"];
const OTHER_MARKS: readonly Nodes["type"][] = ["inlineCode", "code", "image", "blockquote", "table"];

/** Returns true if the formatted text has at most `max` marks, or if `max` is absent. */
export function marksFit(text: string, max: number | undefined): boolean {
  return max === undefined || (text.match(MARKUP)?.length ?? 0) <= max || countMarks(text) <= max;
}

/** Counts the formatted ranges, such as links, bold words, code and quotes. */
function countMarks(text: string): number {
  return countIn(parseMarkdown(text).root, 0);
}

function countIn(node: Nodes, styles: number): number {
  const isStyle = STYLES.includes(node.type);
  const own = node.type === "inlineCode" ? 1 + styles : isStyle || OTHER_MARKS.includes(node.type) ? 1 : 0;
  // A table is rendered as one code block.
  if (!isParent(node) || node.type === "table") return own;
  const within = styles + (isStyle ? 1 : 0);
  return node.children.reduce((sum, child) => sum + countIn(child, within), own);
}
