import { type MarkdownRules, plainTextRules, renderMarkdown } from "@signalbox/channel/markdown";
import { limits } from "../limits.ts";

/** Plain text, and its styled ranges as `start:length:STYLE` in UTF-16 code units. Source: `SendCommand`. */
export interface StyledText {
  readonly text: string;
  readonly styles: readonly string[];
}

const STYLES = ["BOLD", "ITALIC", "STRIKETHROUGH", "MONOSPACE"] as const;
type Style = (typeof STYLES)[number];

/**
 * Noncharacters of Unicode, which are reserved for internal use, mark the start and end of styled ranges while the
 * Markdown is rendered.
 */
const FIRST_MARK = 0xfdd0;
const NONCHARACTERS = /[\ufdd0-\ufdef]/g;

function mark(style: Style, text: string): string {
  const code = FIRST_MARK + 2 * STYLES.indexOf(style);
  return String.fromCharCode(code) + text + String.fromCharCode(code + 1);
}

const rules: MarkdownRules = {
  ...plainTextRules,
  heading: (node, { inner }) => mark("BOLD", inner(node)),
  strong: (node, { inner }) => mark("BOLD", inner(node)),
  emphasis: (node, { inner }) => mark("ITALIC", inner(node)),
  delete: (node, { inner }) => mark("STRIKETHROUGH", inner(node)),
  inlineCode: ({ value }) => mark("MONOSPACE", value),
  code: ({ value }) => mark("MONOSPACE", value),
  table: (node, { source }) => mark("MONOSPACE", source(node)),
};

/** Converts Markdown to text with Signal's styles. Styles over the limit are left out. */
export function toStyledText(markdown: string): StyledText {
  const source = markdown.replace(NONCHARACTERS, "");
  const marked = renderMarkdown(source, rules).trimEnd();
  let text = "";
  const open: { readonly style: Style; readonly start: number }[] = [];
  const styles: string[] = [];
  for (const character of marked) {
    const code = (character.codePointAt(0) ?? 0) - FIRST_MARK;
    const style = code < 0 ? undefined : STYLES[code >> 1];
    if (style === undefined) text += character;
    else if (code % 2 === 0) open.push({ style, start: text.length });
    else {
      const { start = text.length } = open.pop() ?? {};
      if (text.length > start) styles.push(`${start}:${text.length - start}:${style}`);
    }
  }
  if (text.trim() === "") return { text: source, styles: [] };
  return { text, styles: styles.slice(0, limits.styles) };
}
