import { decodeProvenance, type Provenance } from "./provenance.ts";

/** A section of a note that is indexed separately. */
export interface Section {
  readonly text: string;
  /** The headings above it, outermost first. */
  readonly headings: readonly string[];
  /** First and last line, counted from 1. */
  readonly lines: readonly [number, number];
  readonly provenance: Provenance;
}

interface Line {
  readonly number: number;
  readonly text: string;
  readonly provenance: Provenance | undefined;
}

/** Maximum length of a section in characters. An embedding can still represent it. */
const MAX_CHARS = 1_000;
const HEADING = /^(#{1,6})\s+(\S.*)$/;
const FENCE = /^\s*(```|~~~)/;
const INDENTED = /^\s+\S/;

/**
 * Splits a note at headings, and long sections at lines. An entry with provenance forms a separate section with the
 * indented lines below it, so that it can be forgotten individually.
 */
export function sectionsOf(markdown: string): Section[] {
  const sections: Section[] = [];
  const headings: string[] = [];
  let lines: Line[] = [];
  let fenced = false;

  function close(): void {
    const section = toSection(lines, headings);
    if (section !== undefined) sections.push(section);
    lines = [];
  }

  for (const [index, raw] of markdown.split(/\r?\n/).entries()) {
    if (FENCE.test(raw)) fenced = !fenced;
    const heading = fenced ? null : HEADING.exec(raw);
    if (heading !== null) {
      close();
      headings.length = Math.min(headings.length, (heading[1] ?? "").length - 1);
      headings.push(withoutClosing(heading[2] ?? ""));
      continue;
    }
    const line = { number: index + 1, ...decodeProvenance(raw) };
    if (startsSection(line, lines)) close();
    lines.push(line);
  }
  close();
  return sections;
}

/** Removes the optional closing `#` characters of a heading. */
function withoutClosing(heading: string): string {
  let end = heading.trimEnd().length;
  while (heading[end - 1] === "#") end--;
  return heading.slice(0, end).trimEnd();
}

/** A note without provenance comments. */
export interface NoteParts {
  /** The text without untrusted entries. */
  readonly text: string;
  /** The untrusted entries, possibly empty. Do not put them into a system prompt. */
  readonly untrusted: string;
}

export function partsOf(markdown: string): NoteParts {
  const untrusted = sectionsOf(markdown).filter(({ provenance }) => provenance.untrusted !== undefined);
  const isUntrusted = (number: number) =>
    untrusted.some(({ lines: [first, last] }) => number >= first && number <= last);
  const lines = markdown
    .split(/\r?\n/)
    .map((line, index) => ({ text: decodeProvenance(line).text, untrusted: isUntrusted(index + 1) }));
  const textOf = (chosen: typeof lines) =>
    chosen
      .map(({ text }) => text)
      .join("\n")
      .trim();
  return {
    text: textOf(lines.filter((line) => !line.untrusted)),
    untrusted: textOf(lines.filter((line) => line.untrusted)),
  };
}

function startsSection({ text, provenance }: Line, before: readonly Line[]): boolean {
  if (provenance !== undefined) return true;
  if (before[0]?.provenance !== undefined) return !INDENTED.test(text);
  const size = before.reduce((sum, line) => sum + line.text.length + 1, 0);
  return size + text.length > MAX_CHARS;
}

function toSection(lines: readonly Line[], headings: readonly string[]): Section | undefined {
  const written = lines.filter(({ text }) => text.trim() !== "");
  const [first, last] = [written[0], written.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  return {
    text: lines
      .slice(lines.indexOf(first), lines.indexOf(last) + 1)
      .map(({ text }) => text)
      .join("\n"),
    headings: [...headings],
    lines: [first.number, last.number],
    provenance: first.provenance ?? {},
  };
}
