import { rules } from "@secretlint/secretlint-rule-preset-recommend";
import type { SecretLintRuleContext, SecretLintSourceCode } from "@secretlint/types";
import { CREDENTIAL_PATTERNS } from "./credential-patterns.ts";

/** The offsets of a credential in a text. */
export type Span = readonly [from: number, to: number];

/** Text is searched in windows of this size, so that the time of every rule is proportional to its length. */
const WINDOW_CHARS = 32_768;
/** Overlap of windows: the length of the longest credential, a private key. */
const OVERLAP_CHARS = 4_096;

/** Every credential is a long word, part of a URL, or follows a word such as `token`. */
const MAY_CONTAIN_CREDENTIAL = /[\w+/=.~-]{12}|:\/\/|passw|passphrase|pwd|secret|token|bearer|basic/i;

/** Finds text that looks like a credential, by secretlint's rules and our own patterns. The spans are not sorted. */
export function findCredentials(text: string): Span[] {
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
    for (const match of content.matchAll(pattern)) spans.push([match.index, match.index + match[0].length]);
  preset ??= createPreset();
  return [...spans, ...preset(content)];
}

/** Created when it is first needed. */
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
