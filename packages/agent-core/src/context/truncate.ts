/** What is kept of a text that is too long: its start, some of its end too, or that where the end matters. */
export type Keep = "head" | "head-tail" | "auto";

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
  const usual = contextWindow < 100_000 ? 16_000 : contextWindow < 200_000 ? 32_000 : 64_000;
  return Math.max(1, Math.min(usual, Math.floor(contextWindow * WINDOW_SHARE * CHARS_PER_TOKEN)));
}

const TELLING =
  /\b(error|exception|failed|failure|fatal|panic|traceback|exit (code|status)|summary|total|result|warning)\b/i;

/** The same in Chinese, which has no spaces between words. */
const TELLING_IN_CHINESE =
  /错误|錯誤|异常|異常|失败|失敗|报错|崩溃|退出码|退出碼|警告|总计|總計|合计|合計|总结|總結|小结|摘要|结果|結果|结论|結論/;

/** Whether the end of a text is likely to be what it is about: an error, a summary, the close of a JSON document. */
export function tailMatters(text: string): boolean {
  const tail = text.slice(-TAIL_LOOK).trimEnd();
  const last = tail.at(-1);
  if (last === "}" || last === "]") {
    const first = text.trimStart().at(0);
    if (first === "{" || first === "[") return true;
  }
  return TELLING.test(tail) || TELLING_IN_CHINESE.test(tail);
}

/** The notes count towards the limit, so that a cut text is never longer than allowed. */
function note(omitted: number): string {
  return `[${omitted.toLocaleString("en-US")} characters left out: too long. Ask for less: narrow the arguments, filter, or read a part.]`;
}

/**
 * Cuts a text to `max` characters: its start, or 70 % start and 30 % end. `auto` keeps the end where it matters.
 * The text says how much was left out and how to ask for less. Code points are not split.
 */
export function truncateText(text: string, max: number, keep: Keep = "auto"): string {
  if (text.length <= max) return text;
  const withTail = keep === "head-tail" || (keep === "auto" && tailMatters(text));
  const reserve = note(text.length).length + 4;
  const budget = max - reserve;
  // Too small a limit for a note that helps: the bare start is what is left.
  if (budget <= 0) return text.slice(0, startCut(text, max));
  const head = lineCut(text, startCut(text, Math.floor(budget * (withTail ? HEAD_SHARE : 1))));
  if (!withTail) return `${text.slice(0, head)}\n\n${note(text.length - head)}`;
  const start = text.length - Math.floor(budget * (1 - HEAD_SHARE));
  const tail = isLowSurrogate(text, start) ? start + 1 : start;
  return `${text.slice(0, head)}\n\n${note(tail - head)}\n\n${text.slice(tail)}`;
}

/** Where a start may end without splitting a surrogate pair. */
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
