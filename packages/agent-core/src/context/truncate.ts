/**
 * The part of a long text to keep: its start, its start and end, or (`auto`) its start and the end if the end matters.
 */
export type Keep = "head" | "head_tail" | "auto";

/** Maximum share of the window for a single tool result, at four characters per token. */
export const WINDOW_SHARE = 0.3;
const CHARS_PER_TOKEN = 4;
const HEAD_SHARE = 0.7;
/** Number of characters at the end that are checked for relevance. */
const TAIL_LOOK = 2_000;
/** Maximum number of characters that a cut may move back to end at a line break. */
const LINE_SLACK = 200;

/** Returns the maximum length of a tool result in characters for a window of `contextWindow` tokens. */
export function getMaxResultChars(contextWindow: number): number {
  const usual = contextWindow < 100_000 ? 16_000 : contextWindow < 200_000 ? 32_000 : 64_000;
  return Math.max(1, Math.min(usual, Math.floor(contextWindow * WINDOW_SHARE * CHARS_PER_TOKEN)));
}

const RELEVANT =
  /\b(error|exception|failed|failure|fatal|panic|traceback|exit (code|status)|summary|total|result|warning)\b/i;

/** The same words in Chinese, without word boundaries. */
const RELEVANT_IN_CHINESE =
  /错误|錯誤|异常|異常|失败|失敗|报错|崩溃|退出码|退出碼|警告|总计|總計|合计|合計|总结|總結|小结|摘要|结果|結果|结论|結論/;

/** Returns true if the end of a text probably matters: an error, a summary, or the end of a JSON document. */
export function isTailRelevant(text: string): boolean {
  const tail = text.slice(-TAIL_LOOK).trimEnd();
  const last = tail.at(-1);
  if (last === "}" || last === "]") {
    const first = text.trimStart().at(0);
    if (first === "{" || first === "[") return true;
  }
  return RELEVANT.test(tail) || RELEVANT_IN_CHINESE.test(tail);
}

/** Creates the note about the omitted text. The note counts toward the limit. */
function note(omitted: number): string {
  return `[${omitted.toLocaleString("en-US")} characters left out: too long. Ask for less: narrow the arguments, filter, or read a part.]`;
}

/**
 * Shortens a text to `max` characters: its start, or 70 % start and 30 % end. `auto` keeps the end if it matters. A
 * note states how much was omitted and how to request less. Never splits a code point.
 */
export function truncateText(text: string, max: number, keep: Keep = "auto"): string {
  if (text.length <= max) return text;
  const withTail = keep === "head_tail" || (keep === "auto" && isTailRelevant(text));
  const reserve = note(text.length).length + 4;
  const budget = max - reserve;
  // The limit is too small for the note.
  if (budget <= 0) return text.slice(0, startCut(text, max));
  const head = lineCut(text, startCut(text, Math.floor(budget * (withTail ? HEAD_SHARE : 1))));
  if (!withTail) return `${text.slice(0, head)}\n\n${note(text.length - head)}`;
  const start = text.length - Math.floor(budget * (1 - HEAD_SHARE));
  const tail = isLowSurrogate(text, start) ? start + 1 : start;
  return `${text.slice(0, head)}\n\n${note(tail - head)}\n\n${text.slice(tail)}`;
}

/** Returns the end index of a prefix that does not split a surrogate pair. */
function startCut(text: string, end: number): number {
  return isLowSurrogate(text, end) ? end - 1 : end;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return at > 0 && unit >= 0xdc00 && unit <= 0xdfff;
}

function lineCut(text: string, end: number): number {
  const line = text.lastIndexOf("\n", end - 1);
  return line > 0 && end - line <= LINE_SLACK ? line : end;
}
