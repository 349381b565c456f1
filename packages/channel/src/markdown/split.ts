import type { List, Nodes, Root } from "mdast";
import type { TextCapability } from "../contract/capabilities.ts";
import { normalizeLineEnds, textFits } from "../text.ts";
import { endOf, isParent, parseMarkdown, startOf } from "./parse.ts";
import { sectionsOf } from "./sections.ts";
import { type Fits, type Range, splitLines, splitWords } from "./words.ts";

/**
 * Cuts Markdown into parts, none longer than `limit.max` in its unit. Blocks stay whole where a part can hold them, and
 * a part takes as many as fit. A block that no part can hold is cut between items, lines, rows, sentences or words: a
 * code block is closed and opened again, a table repeats its head. What people see as one character is not cut unless
 * it alone is longer than a part. Blank lines and spaces at a cut are dropped, everything else is kept.
 */
export function splitMarkdown(text: string, limit: Pick<TextCapability, "max" | "unit">): string[] {
  const { max = Number.POSITIVE_INFINITY, unit } = limit;
  return splitText(text, (piece) => textFits(piece, { max, unit }), 0);
}

/** Deeper nesting is cut as if it were prose. */
const deepest = 8;

function splitText(text: string, fits: Fits, depth: number): string[] {
  if (depth > deepest) return splitWords(text, fits);
  const filling = createFilling(fits);
  let gap = "";
  for (const section of sectionsOf(normalizeLineEnds(text).replace(/^(?:[^\S\n]*\n)+/, ""))) {
    const written = section.trimEnd();
    // Reading takes time: what a part takes as it is need not be read.
    if (!filling.addWhole(gap, written)) {
      const { source, root } = parseMarkdown(written);
      fill(filling, gap, source, root, depth);
    }
    gap = section.slice(written.length);
  }
  return filling.end();
}

/** Adds the children of a node, in order. */
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

/** Parts that are filled one after the other. */
interface Filling {
  /** Adds a block where the part that is being filled can hold it. */
  addWhole(gap: string, block: string): boolean;
  /** Adds a block behind what was between it and the one before, in pieces where no part can hold it. */
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

/** The start of the line, where nothing but blanks is before the offset. */
function lineStart(source: string, offset: number): number {
  const start = source.lastIndexOf("\n", offset - 1) + 1;
  return source.slice(start, offset).trim() === "" ? start : offset;
}

/** A block that no part can hold, in pieces. */
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

/** Links, pictures and inline code of a block, as ranges of its text. */
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
  // Indented code needs nothing around it.
  if (fence === undefined) return splitLines(lines, fits);
  const [opening = fence, ...code] = lines;
  if (code.at(-1)?.trim().startsWith(fence.trim()) === true) code.pop();
  for (const first of [opening, fence]) {
    const fenced = (piece: string): string => `${first}\n${piece}\n${fence}`;
    // An absurd fence would leave no room for what is in it.
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
  return splitText(inner, (piece, index) => fits(quoted(piece), index), depth + 1).map(quoted);
}

/** The first piece keeps the marker; what follows stands for itself. */
function splitItem(block: string, fits: Fits, depth: number): string[] {
  const marker = /^\s*(?:[-+*]|\d{1,9}[.)])(?:[^\S\n]{1,4}|$)/.exec(block)?.[0] ?? "";
  const indent = " ".repeat(marker.length);
  const content = block.slice(marker.length).replaceAll(`\n${indent}`, "\n");
  const written = (piece: string, index: number): string =>
    index === 0 ? marker + piece.replace(/\n(?=.)/g, `\n${indent}`) : piece;
  return splitText(content, (piece, index) => fits(written(piece, index), index), depth + 1).map(written);
}
