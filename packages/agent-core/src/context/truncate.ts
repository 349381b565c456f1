/** Characters of one tool result, by the window that has to hold it. */
const SMALL = 16_000;
const LARGE = 32_000;
const EXTRA_LARGE = 64_000;
const LARGE_WINDOW = 100_000;
const EXTRA_LARGE_WINDOW = 200_000;
/** No single result takes more of the window than this, at four characters a token. */
export const WINDOW_SHARE = 0.3;
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
