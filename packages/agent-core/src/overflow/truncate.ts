import type { InputBlock, TextBlock } from "../content.ts";
import { estimateTokens } from "../tokens.ts";

/** Characters of one tool result, by the window that has to hold it. */
const SMALL = 16_000;
const LARGE = 32_000;
const EXTRA_LARGE = 64_000;
const LARGE_WINDOW = 100_000;
const EXTRA_LARGE_WINDOW = 200_000;
/** No single result takes more of the window than this, at four characters a token. */
const WINDOW_SHARE = 0.3;
const CHARS_PER_TOKEN = 4;
const HEAD_SHARE = 0.7;
/** How much of the end is looked at to see whether it matters. */
const TAIL_LOOK = 2_000;
/** A cut may move this far back to end at a line. */
const LINE_SLACK = 200;

/** The characters a single tool result may have, for a window in tokens. */
export function maxResultChars(contextWindow: number): number {
  let chars = SMALL;
  if (contextWindow >= EXTRA_LARGE_WINDOW) chars = EXTRA_LARGE;
  else if (contextWindow >= LARGE_WINDOW) chars = LARGE;
  return Math.max(1, Math.min(chars, Math.floor(contextWindow * WINDOW_SHARE * CHARS_PER_TOKEN)));
}

const TELLING =
  /\b(error|exception|failed|failure|fatal|panic|traceback|exit (code|status)|summary|total|result|warning)\b/i;

/** Whether the end of a text is likely to be what it is about: an error, a summary, the close of a JSON document. */
export function tailMatters(text: string): boolean {
  const tail = text.slice(-TAIL_LOOK).trimEnd();
  const last = tail.at(-1);
  if (last === "}" || last === "]") {
    const first = text.trimStart().at(0);
    if (first === "{" || first === "[") return true;
  }
  return TELLING.test(tail);
}

/** The notes count towards the limit, so that a cut text is never longer than allowed. */
function note(omitted: number): string {
  return `[${omitted.toLocaleString("en-US")} characters left out: too long. Ask for less: narrow the arguments, filter, or read a part.]`;
}

/**
 * Cuts a text to `max` characters: its start, or 70 % start and 30 % end. `auto` keeps the end where it matters.
 * The text says how much was left out and how to ask for less. Code points are not split.
 */
export function truncateText(
  text: string,
  max: number,
  keep: "head" | "head-tail" | "auto" = "auto",
): string {
  if (text.length <= max) return text;
  const withTail = keep === "head-tail" || (keep === "auto" && tailMatters(text));
  const reserve = note(text.length).length + 4;
  const budget = max - reserve;
  // Too small a limit for a note that helps: the bare start is what is left.
  if (budget <= 0) return text.slice(0, startCut(text, max));
  if (!withTail) {
    const head = lineCut(text, startCut(text, budget));
    return `${text.slice(0, head)}\n\n${note(text.length - head)}`;
  }
  const head = lineCut(text, startCut(text, Math.floor(budget * HEAD_SHARE)));
  const tail = endCut(text, text.length - Math.floor(budget * (1 - HEAD_SHARE)));
  return `${text.slice(0, head)}\n\n${note(tail - head)}\n\n${text.slice(tail)}`;
}

/** An end of a start that splits no surrogate pair. */
function startCut(text: string, end: number): number {
  return isLowSurrogate(text, end) ? end - 1 : end;
}

/** A start of an end that splits no surrogate pair. */
function endCut(text: string, start: number): number {
  return isLowSurrogate(text, start) ? start + 1 : start;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return at > 0 && unit >= 0xdc00 && unit <= 0xdfff;
}

function lineCut(text: string, end: number): number {
  const line = text.lastIndexOf("\n", end - 1);
  return line > 0 && end - line <= LINE_SLACK ? line : end;
}

/**
 * Cuts the texts of a result to `max` characters together; the longest give way first. Media stays. The same array
 * when nothing is too long.
 */
export function truncateContent(
  content: readonly InputBlock[],
  max: number,
  keep: "head" | "head-tail" | "auto" = "auto",
): readonly InputBlock[] {
  const texts = content.filter((block): block is TextBlock => block.type === "text");
  let total = 0;
  for (const block of texts) total += block.text.length;
  if (total <= max) return content;
  const each = share(
    texts.map((block) => block.text.length),
    max,
  );
  return content.map((block) => {
    if (block.type !== "text" || block.text.length <= each) return block;
    return { type: "text", text: truncateText(block.text, each, keep) };
  });
}

/**
 * As `truncateContent`, and to at most 30 % of a window of `contextWindow` tokens: a character of Chinese or Japanese
 * takes about as many tokens as four of English.
 */
export function truncateResult(
  content: readonly InputBlock[],
  max: number,
  contextWindow: number,
  keep: "head" | "head-tail" | "auto" = "auto",
): readonly InputBlock[] {
  const most = Math.max(1, Math.floor(contextWindow * WINDOW_SHARE));
  let cut = truncateContent(content, max, keep);
  // No character takes more than a token. What stays may be denser than what goes, so the first guess need not do.
  for (let chars = charsOf(cut); chars > most; ) {
    const tokens = tokensOf(cut);
    if (tokens <= most) break;
    chars = Math.floor(chars * Math.min(0.9, most / tokens));
    cut = truncateContent(content, chars, keep);
  }
  return cut;
}

function charsOf(content: readonly InputBlock[]): number {
  let chars = 0;
  for (const block of content) if (block.type === "text") chars += block.text.length;
  return chars;
}

function tokensOf(content: readonly InputBlock[]): number {
  let tokens = 0;
  for (const block of content) if (block.type === "text") tokens += estimateTokens(block.text);
  return tokens;
}

/** The most each may have so that all have room: what short ones leave goes to the long ones. */
function share(lengths: readonly number[], max: number): number {
  let left = max;
  let count = lengths.length;
  for (const length of [...lengths].sort((a, b) => a - b)) {
    const each = Math.floor(left / count);
    if (length > each) return Math.max(1, each);
    left -= length;
    count--;
  }
  return max;
}
