import { rules } from "@secretlint/secretlint-rule-preset-recommend";
import type { SecretLintRuleContext, SecretLintSourceCode } from "@secretlint/types";
import { CREDENTIAL_NAME_AT_END, CREDENTIAL_PATTERNS, RANDOM_ASSIGNMENT } from "./credential-patterns.ts";
import { decodeEscapes, findEncodedRuns } from "./decode.ts";

/** The offsets of a credential in a text. */
export type Span = readonly [from: number, to: number];

/** Window size in characters. Text is searched in windows, so that every rule runs in linear time. */
const WINDOW_CHARS = 32_768;
/** Overlap of windows in characters: the length of the longest credential, a private key. */
const OVERLAP_CHARS = 4_096;

/** Every credential is a long word, part of a URL, or follows a word such as `token`. */
const MAY_CONTAIN_CREDENTIAL = /[\w+/=.~-]{12}|:\/\/|passw|passphrase|pwd|secret|token|bearer|basic/i;

/**
 * Finds text that looks like a credential, with secretlint's rules and our own patterns, even if it is escaped or
 * encoded in base64 or hexadecimal. The spans are not sorted.
 */
export function findCredentials(text: string): Span[] {
  const decoded = decodeEscapes(text);
  return [
    ...findPlainCredentials(text),
    ...findEncodedCredentials(text),
    ...(decoded === undefined
      ? []
      : [...findPlainCredentials(decoded.text), ...findEncodedCredentials(decoded.text)].map(
          ([from, to]): Span => [decoded.offsets[from] ?? 0, decoded.offsets[to] ?? text.length],
        )),
  ];
}

/** An encoded credential is removed together with the entire encoded text around it. */
function findEncodedCredentials(text: string): Span[] {
  const runs = findEncodedRuns(text);
  const ends: number[] = [];
  // One search for all runs, because each search takes a while to start.
  let decoded = "";
  for (const run of runs) {
    decoded += `${run.text}\n`;
    ends.push(decoded.length);
  }
  const spans: Span[] = [];
  for (const [from, to] of findPlainCredentials(decoded)) {
    for (let at = findFirstAbove(ends, from); at < runs.length; at += 1) {
      const { from: start, to: end, text: content } = runs[at] ?? { from: 0, to: 0, text: "" };
      if ((ends[at] ?? 0) - content.length - 1 >= to) break;
      spans.push([start, end]);
    }
  }
  return spans;
}

/** Returns the index of the first of the ascending numbers that is above a limit, by bisection. */
function findFirstAbove(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

function findPlainCredentials(text: string): Span[] {
  if (!MAY_CONTAIN_CREDENTIAL.test(text)) return [];
  const spans: Span[] = [];
  for (let start = 0; start < text.length; start += WINDOW_CHARS - OVERLAP_CHARS) {
    const window = text.slice(start, start + WINDOW_CHARS);
    for (const [from, to] of searchWindow(window)) spans.push([start + from, start + to]);
    if (start + WINDOW_CHARS >= text.length) break;
  }
  return spans;
}

function searchWindow(content: string): Span[] {
  const spans: Span[] = [];
  for (const pattern of CREDENTIAL_PATTERNS)
    for (const match of content.matchAll(pattern)) spans.push(spanOf(match));
  preset ??= createPreset();
  return [...spans, ...findNamed(content), ...preset(content)];
}

/** Maximum number of characters before an assignment in which its name is searched. */
const MAX_NAME_CHARS = 90;

/** Finds random-looking values that are assigned to the name of a credential. */
function findNamed(content: string): Span[] {
  const spans: Span[] = [];
  for (const { index, 1: quotes = "", 2: value = "" } of content.matchAll(RANDOM_ASSIGNMENT)) {
    if (!CREDENTIAL_NAME_AT_END.test(content.slice(Math.max(0, index - MAX_NAME_CHARS), index))) continue;
    const from = index + 1 + quotes.length;
    spans.push([from, from + value.length]);
  }
  return spans;
}

/** Returns the span of a match, or of its group: the value at its end. */
function spanOf({ index, 0: whole, 1: value = whole }: RegExpExecArray): Span {
  const end = index + whole.length;
  return [end - value.length, end];
}

/** Created on first use. */
let preset: ((content: string) => Span[]) | undefined;

/** Creates a function that applies the rules of secretlint's preset. All of them run synchronously. */
function createPreset(): (content: string) => Span[] {
  let spans: Span[] = [];
  const context: SecretLintRuleContext = {
    sharedOptions: {},
    ignore: () => {},
    report: ({ range: [from, to] }) => void spans.push([from, to]),
    // The rules' messages are not used.
    createTranslator: () => (messageId) => ({ message: "", messageId: String(messageId), data: {} }),
  };
  const searches = rules.map(({ create }) => create(context, {}).file);
  return (content) => {
    spans = [];
    const source = toSourceCode(content);
    for (const search of searches) void search?.(source);
    return spans;
  };
}

/** Wraps a text as a file of secretlint. Lines and columns are not used. */
function toSourceCode(content: string): SecretLintSourceCode {
  const start = { line: 1, column: 0 };
  return {
    content,
    contentType: "text",
    hasBOM: false,
    ext: ".txt",
    filePath: "text.txt",
    physicalFilePath: undefined,
    getFilePath: () => "text.txt",
    getPhysicalFilePath: () => undefined,
    locationToRange: () => [0, 0],
    rangeToLocation: () => ({ start, end: start }),
    positionToIndex: () => 0,
    indexToPosition: () => start,
  };
}
