import type { List, Nodes, Root } from "mdast";
import type { TextCapability } from "../contract/capabilities.ts";
import { normalizeLineEnds, textFits } from "../text.ts";
import { marksFit } from "./marks.ts";
import { endOf, isParent, parseMarkdown, startOf } from "./parse.ts";
import { splitSections } from "./sections.ts";
import { type Fits, type Range, splitLines, splitWords } from "./split-lines.ts";

/**
 * Splits Markdown into parts of at most `limit.max` and `limit.maxMarks`. Each part contains as many whole blocks as
 * fit. A block that is too long for a part is split between items, lines, rows, sentences or words. A split code block
 * is closed and reopened, and a split table repeats its header. Only blank lines and spaces at a cut are dropped.
 */
export function splitMarkdown(
  text: string,
  { max = Number.POSITIVE_INFINITY, unit, maxMarks }: Pick<TextCapability, "max" | "unit" | "maxMarks">,
): string[] {
  return splitBlocks(text, (piece) => textFits(piece, { max, unit }) && marksFit(piece, maxMarks), 0);
}

/** Maximum nesting. Deeper blocks are split like prose. */
const MAX_DEPTH = 8;

function splitBlocks(text: string, fits: Fits, depth: number): string[] {
  if (depth > MAX_DEPTH) return splitWords(text, fits);
  const filling = createFilling(fits);
  let gap = "";
  for (const section of splitSections(normalizeLineEnds(text).replace(/^(?:[^\S\n]*\n)+/, ""))) {
    const written = section.trimEnd();
    // A section that fits is not parsed, because parsing takes time.
    if (!filling.addWhole(gap, written)) {
      const { source, root } = parseMarkdown(written);
      fill(filling, gap, source, root, depth);
    }
    gap = section.slice(written.length);
  }
  return filling.end();
}

/** Adds the children of a node in order. */
function fill(filling: Filling, gap: string, source: string, parent: Root | List, depth: number): void {
  let before = gap;
  let end = 0;
  for (const node of parent.children) {
    const start = lineStart(source, startOf(node));
    before += source.slice(end, start);
    end = endOf(node);
    filling.add(before, source.slice(start, end), (fits) => splitBlock(source, node, fits, depth));
    before = "";
  }
}

/** Fills one part after another. */
interface Filling {
  /** Adds a block if it fits into the current part. */
  addWhole(gap: string, block: string): boolean;
  /**
   * Adds a block, preceded by the text between it and the previous block. A block that is too long for any part is cut.
   */
  add(gap: string, block: string, cut: (fits: Fits) => string[]): void;
  end(): string[];
}

function createFilling(fits: Fits): Filling {
  const parts: string[] = [];
  let part = "";
  const joined = (gap: string, piece: string): string => (part === "" ? piece : part + gap + piece);
  const addWhole = (gap: string, block: string): boolean => {
    const longer = joined(gap, block);
    if (!fits(longer, parts.length)) return false;
    part = longer;
    return true;
  };
  return {
    addWhole,
    add(gap, block, cut) {
      if (addWhole(gap, block)) return;
      const cutHere = (): string[] =>
        cut((piece, index) => fits(index === 0 ? joined(gap, piece) : piece, parts.length + index));
      let pieces = part !== "" && fits(block, parts.length + 1) ? undefined : cutHere();
      if (part !== "" && (pieces === undefined || !fits(joined(gap, pieces[0] ?? ""), parts.length))) {
        parts.push(part);
        part = "";
        pieces = fits(block, parts.length) ? [block] : cutHere();
      }
      const [first = "", ...rest] = pieces ?? [];
      parts.push(joined(gap, first), ...rest);
      part = parts.pop() ?? "";
    },
    end: () => (part === "" ? parts : [...parts, part]),
  };
}

/** Returns the start of the line if only whitespace precedes the offset, otherwise the offset. */
function lineStart(source: string, offset: number): number {
  const start = source.lastIndexOf("\n", offset - 1) + 1;
  return source.slice(start, offset).trim() === "" ? start : offset;
}

/** Splits a block that is too long for any part. */
function splitBlock(source: string, node: Nodes, fits: Fits, depth: number): string[] {
  const block = source.slice(lineStart(source, startOf(node)), endOf(node));
  switch (node.type) {
    case "code":
      return splitCode(block, fits);
    case "table":
      return splitTable(block, fits);
    case "list":
      return splitItems(source, node, fits, depth);
    case "listItem":
      return splitItem(block, fits, depth);
    case "blockquote":
      return splitQuote(block, fits, depth);
    default:
      return splitWords(block, fits, inseparable(node, lineStart(source, startOf(node))));
  }
}

/** Returns the ranges of links, images and inline code in a block. */
function inseparable(node: Nodes, offset: number): Range[] {
  if (["link", "image", "inlineCode", "linkReference"].includes(node.type))
    return [{ start: startOf(node) - offset, end: endOf(node) - offset }];
  return isParent(node) ? node.children.flatMap((child) => inseparable(child, offset)) : [];
}

function splitItems(source: string, list: List, fits: Fits, depth: number): string[] {
  const filling = createFilling(fits);
  fill(filling, "", source, list, depth);
  return filling.end();
}

const fenceLine = /^([^\S\n]*(?:`{3,}|~{3,}))/;

function splitCode(block: string, fits: Fits): string[] {
  const lines = block.split("\n");
  const fence = fenceLine.exec(block)?.[1];
  // Indented code has no fences.
  if (fence === undefined) return splitLines(lines, fits);
  const [opening = fence, ...code] = lines;
  if (code.at(-1)?.trim().startsWith(fence.trim()) === true) code.pop();
  for (const first of [opening, fence]) {
    const fenced = (piece: string): string => `${first}\n${piece}\n${fence}`;
    // A very long fence or info string leaves no room for code. Try the bare fence, then none.
    if (!fits(fenced("xxxx"), 1)) continue;
    return splitLines(code, (piece, index) => fits(fenced(piece), index)).map(fenced);
  }
  return splitLines(lines, fits);
}

function splitTable(block: string, fits: Fits): string[] {
  const [head = "", rule = "", ...rows] = block.split("\n");
  const withHead = (piece: string): string => `${head}\n${rule}\n${piece}`;
  if (!rows.every((row) => fits(withHead(row), 1))) return splitLines([head, rule, ...rows], fits);
  return splitLines(rows, (piece, index) => fits(withHead(piece), index)).map(withHead);
}

function splitQuote(block: string, fits: Fits, depth: number): string[] {
  const quoted = (piece: string): string => piece.replace(/^/gm, "> ");
  const inner = block.replace(/^[^\S\n]*> ?/gm, "");
  if (!fits(quoted("xxxx"), 1)) return splitWords(block, fits);
  return splitBlocks(inner, (piece, index) => fits(quoted(piece), index), depth + 1).map(quoted);
}

/** The first piece keeps the marker of the list item. */
function splitItem(block: string, fits: Fits, depth: number): string[] {
  const marker = /^\s*(?:[-+*]|\d{1,9}[.)])(?:[^\S\n]{1,4}|$)/.exec(block)?.[0] ?? "";
  const indent = " ".repeat(marker.length);
  const content = block.slice(marker.length).replaceAll(`\n${indent}`, "\n");
  const written = (piece: string, index: number): string =>
    index === 0 ? marker + piece.replace(/\n(?=.)/g, `\n${indent}`) : piece;
  return splitBlocks(content, (piece, index) => fits(written(piece, index), index), depth + 1).map(written);
}
