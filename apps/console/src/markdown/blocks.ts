import { type Inline, parseInline } from "./inline.ts";

export type Block =
  | { type: "paragraph"; inline: Inline[] }
  | { type: "heading"; level: number; inline: Inline[] }
  | { type: "code"; language: string; text: string }
  | { type: "list"; start: number | undefined; items: Block[][] }
  | { type: "quote"; blocks: Block[] }
  | { type: "table"; head: Inline[][]; rows: Inline[][][] }
  | { type: "rule" };

/** Deeper nesting is shown as it was written: nobody writes it, but a hostile model may. */
const MAX_DEPTH = 10;

const FENCE = /^ {0,3}(`{3,}|~{3,}) *([\w+#.-]*)/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(?: {1,4}|$)/;

/**
 * Reads the Markdown that models write: paragraphs, headings, fenced code, lists, quotes, tables and rules.
 * HTML is text like any other. Unfinished text, as it streams in, reads as what it is so far.
 */
export function parseMarkdown(text: string): Block[] {
  return parseLines(text.replace(/\r\n?/g, "\n").replaceAll("\t", "    ").split("\n"), 0);
}

function parseLines(lines: string[], depth: number): Block[] {
  const blocks: Block[] = [];
  if (depth > MAX_DEPTH) return [{ type: "paragraph", inline: [lines.join("\n")] }];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      at += 1;
      continue;
    }
    const [block, next] =
      fence(lines, at) ??
      heading(line, at) ??
      rule(line, at) ??
      quote(lines, at, depth) ??
      list(lines, at, depth) ??
      table(lines, at) ??
      paragraph(lines, at);
    blocks.push(block);
    at = next;
  }
  return blocks;
}

/** A block, and the line after it. */
type Read = [block: Block, next: number] | undefined;

function fence(lines: string[], at: number): Read {
  const [, mark, language = ""] = FENCE.exec(lines[at] ?? "") ?? [];
  if (mark === undefined) return undefined;
  const indent = indentOf(lines[at] ?? "");
  const body: string[] = [];
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? "";
    const trimmed = line.trim();
    if (trimmed.length >= mark.length && isOnly(trimmed, mark.charAt(0))) return [code(), next + 1];
    body.push(line.slice(Math.min(indent, indentOf(line))));
  }
  return [code(), next];

  function code(): Block {
    return { type: "code", language, text: body.join("\n") };
  }
}

function heading(line: string, at: number): Read {
  const level = /^ {0,3}(#{1,6}) /.exec(line)?.[1]?.length;
  if (level === undefined) return undefined;
  const text = line.trim().slice(level).trim();
  return [{ type: "heading", level, inline: parseInline(text) }, at + 1];
}

function rule(line: string, at: number): Read {
  const marks = line.replaceAll(" ", "");
  const isRule = marks.length >= 3 && ["-", "*", "_"].some((mark) => isOnly(marks, mark));
  return isRule ? [{ type: "rule" }, at + 1] : undefined;
}

function quote(lines: string[], at: number, depth: number): Read {
  const inner: string[] = [];
  let next = at;
  for (; next < lines.length; next += 1) {
    const line = (lines[next] ?? "").trimStart();
    if (!line.startsWith(">")) break;
    inner.push(line.slice(line.startsWith("> ") ? 2 : 1));
  }
  if (next === at) return undefined;
  return [{ type: "quote", blocks: parseLines(inner, depth + 1) }, next];
}

function list(lines: string[], at: number, depth: number): Read {
  const first = ITEM.exec(lines[at] ?? "");
  if (first === null) return undefined;
  const indent = first[1]?.length ?? 0;
  const kind = kindOf(first);
  const items: string[][] = [];
  let content = 0;
  let next = at;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? "";
    const item = ITEM.exec(line);
    const own = indentOf(line);
    if (item !== null && own < Math.max(indent + 2, content) && (items.length === 0 || own >= indent)) {
      if (kindOf(item) !== kind) break;
      content = item[0].length;
      items.push([line.slice(content)]);
      continue;
    }
    if (line.trim() === "") {
      // A blank line belongs to the list only where the list goes on behind it.
      const after = lines[next + 1] ?? "";
      if (after.trim() === "" || (indentOf(after) <= indent && ITEM.exec(after) === null)) break;
      items.at(-1)?.push("");
      continue;
    }
    const goesOn = own > indent || ((lines[next - 1] ?? "").trim() !== "" && !startsBlock(lines, next));
    if (!goesOn) break;
    items.at(-1)?.push(line.slice(Math.min(own, content)));
  }
  const start = kind === "bullet" ? undefined : Number.parseInt(first[2] ?? "1", 10);
  return [{ type: "list", start, items: items.map((item) => parseLines(item, depth + 1)) }, next];
}

function kindOf(item: RegExpExecArray): "bullet" | "number" {
  return /\d/.test(item[2] ?? "") ? "number" : "bullet";
}

function table(lines: string[], at: number): Read {
  const head = cells(lines[at] ?? "");
  const ruler = cells(lines[at + 1] ?? "");
  if (head.length === 0 || head.length !== ruler.length) return undefined;
  if (!ruler.every((cell) => /^:?-+:?$/.test(cell))) return undefined;
  const rows: Inline[][][] = [];
  let next = at + 2;
  for (; next < lines.length; next += 1) {
    const row = cells(lines[next] ?? "");
    if (row.length === 0) break;
    rows.push(head.map((_, column) => parseInline(row[column] ?? "")));
  }
  return [{ type: "table", head: head.map((cell) => parseInline(cell)), rows }, next];
}

/** The cells of a line with a `|` in it, else none. */
function cells(line: string): string[] {
  if (!line.includes("|")) return [];
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split("|").map((cell) => cell.trim());
}

function paragraph(lines: string[], at: number): [Block, number] {
  let next = at + 1;
  while (next < lines.length && (lines[next] ?? "").trim() !== "" && !startsBlock(lines, next)) next += 1;
  const text = lines.slice(at, next).map((line) => line.trim());
  return [{ type: "paragraph", inline: parseInline(text.join("\n")) }, next];
}

function startsBlock(lines: string[], at: number): boolean {
  const line = lines[at] ?? "";
  return (
    FENCE.test(line) ||
    heading(line, at) !== undefined ||
    rule(line, at) !== undefined ||
    line.trimStart().startsWith(">") ||
    // As in CommonMark: a number in the middle of a sentence begins no list unless it is 1.
    /^ {0,3}(?:[-*+]|1[.)]) /.test(line)
  );
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function isOnly(text: string, mark: string): boolean {
  for (const character of text) if (character !== mark) return false;
  return true;
}
