/** A range of a text in UTF-16 code units, with the Markdown marks around it. */
export interface MarkedRange {
  readonly start: number;
  readonly length: number;
  readonly style: string;
}

/** A range that is replaced. */
export interface ReplacedRange {
  readonly start: number;
  readonly length: number;
  readonly text: string;
}

/** Markdown marks of Signal's text styles. Spoilers have none. Source: `TextStyle.Style` of signal-cli. */
const MARKS: Readonly<Record<string, string>> = {
  BOLD: "**",
  ITALIC: "*",
  STRIKETHROUGH: "~~",
  MONOSPACE: "`",
};

interface Insertion {
  readonly at: number;
  /** Number of characters that the insertion replaces. */
  readonly drops: number;
  readonly text: string;
  readonly isEnd: boolean;
  readonly length: number;
}

/** Writes styled ranges as Markdown, and replaces mentions. Ranges outside the text are ignored. */
export function writeMarkdown(
  text: string,
  styles: readonly MarkedRange[],
  replaced: readonly ReplacedRange[],
): string {
  const insertions: Insertion[] = replaced
    .filter((range) => isInside(range, text))
    .map(({ start, length, text: words }) => ({
      at: start,
      drops: length,
      text: words,
      isEnd: false,
      length: 0,
    }));
  for (const range of styles) insertions.push(...createMarks(range, text));
  insertions.sort(
    (a, b) =>
      a.at - b.at ||
      Number(b.isEnd) - Number(a.isEnd) ||
      (a.isEnd ? a.length - b.length : b.length - a.length),
  );
  let written = "";
  let at = 0;
  for (const insertion of insertions) {
    if (insertion.at < at) continue;
    written += text.slice(at, insertion.at) + insertion.text;
    at = insertion.at + insertion.drops;
  }
  return written + text.slice(at);
}

function isInside(
  { start, length }: { readonly start: number; readonly length: number },
  text: string,
): boolean {
  return (
    Number.isInteger(start) &&
    Number.isInteger(length) &&
    start >= 0 &&
    length > 0 &&
    start + length <= text.length
  );
}

/** Returns the marks of a range. Markdown requires that they touch a word, so spaces at the edges are left out. */
function createMarks(range: MarkedRange, text: string): readonly Insertion[] {
  const mark = MARKS[range.style];
  if (mark === undefined || !isInside(range, text)) return [];
  const words = text.slice(range.start, range.start + range.length);
  const start = range.start + words.length - words.trimStart().length;
  const length = words.trim().length;
  if (length === 0) return [];
  const end = start + length;
  const isBlock = mark === "`" && words.trim().includes("\n");
  const before = isBlock ? `${isLineEdge(text[start - 1]) ? "" : "\n"}\`\`\`\n` : mark;
  const after = isBlock ? `\n\`\`\`${isLineEdge(text[end]) ? "" : "\n"}` : mark;
  return [
    { at: start, drops: 0, text: before, isEnd: false, length },
    { at: end, drops: 0, text: after, isEnd: true, length },
  ];
}

/** Returns true if the character next to a range is a line break, or if the text ends there. */
function isLineEdge(character: string | undefined): boolean {
  return character === undefined || character === "\n";
}
