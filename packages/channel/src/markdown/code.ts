import type { Nodes } from "mdast";
import { endOf, isParent, parseMarkdown, startOf } from "./parse.ts";

/** A stretch of a text in UTF-16 units, from `start` up to and without `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Where a text with `\n` line ends holds code, blocks and inline, in order. */
export function codeRanges(text: string): readonly Range[] {
  const ranges: Range[] = [];
  const visit = (node: Nodes): void => {
    if (node.type === "code" || node.type === "inlineCode")
      ranges.push({ start: startOf(node), end: endOf(node) });
    else if (isParent(node)) for (const child of node.children) visit(child);
  };
  visit(parseMarkdown(text).root);
  return ranges;
}
