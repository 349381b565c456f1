import { rules } from "@secretlint/secretlint-rule-preset-recommend";
import type { SecretLintRuleContext, SecretLintSourceCode } from "@secretlint/types";
import { SHAPES } from "./shapes.ts";

/** Where something that looks like a credential stands in a text. */
export type Span = readonly [from: number, to: number];

/** Text is looked at in windows, so that no rule takes longer than in proportion to it. */
const WINDOW = 32_768;
/** How far windows overlap: as long as the longest credential that is looked for, a private key. */
const OVERLAP = 4_096;

/** What every credential has: a long word, an address it may stand in, or a word that announces it. */
const MAY_HOLD_ONE = /[\w+/=.~-]{12}|:\/\/|passw|passphrase|pwd|secret|token|bearer|basic/i;

/** Finds what looks like a credential: by secretlint's rules, and by shapes beside them. In no order. */
export function credentialSpans(text: string): Span[] {
  if (!MAY_HOLD_ONE.test(text)) return [];
  const spans: Span[] = [];
  for (let start = 0; start < text.length; start += WINDOW - OVERLAP) {
    const window = text.slice(start, start + WINDOW);
    for (const [from, to] of spansIn(window)) spans.push([start + from, start + to]);
    if (start + WINDOW >= text.length) break;
  }
  return spans;
}

function spansIn(content: string): Span[] {
  const spans: Span[] = [];
  for (const shape of SHAPES)
    for (const match of content.matchAll(shape)) spans.push([match.index, match.index + match[0].length]);
  preset ??= createPreset();
  return [...spans, ...preset(content)];
}

/** Made when it is first needed. */
let preset: ((content: string) => Span[]) | undefined;

/** The rules of secretlint's preset. Each looks at a text at once; what one said later would come too late. */
function createPreset(): (content: string) => Span[] {
  let spans: Span[] = [];
  const context: SecretLintRuleContext = {
    sharedOptions: {},
    ignore: () => {},
    report: ({ range: [from, to] }) => void spans.push([from, to]),
    // Its words are nobody's to read here.
    createTranslator: () => (messageId) => ({ message: "", messageId: String(messageId), data: {} }),
  };
  const looks = rules.map(({ create }) => create(context, {}).file);
  return (content) => {
    spans = [];
    const source = sourceOf(content);
    for (const look of looks) void look?.(source);
    return spans;
  };
}

/** A text as secretlint has files. Nobody here asks for lines and columns. */
function sourceOf(content: string): SecretLintSourceCode {
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
