import { type MarkdownDocument, parseMarkdown } from "@signalbox/channel/markdown";

/** A text that grows, as documents of which only the last one may still change. */
export type Sections = readonly MarkdownDocument[];

/** A document is worth closing from that length on. */
const WORTH_CLOSING = 2000;

/**
 * The sections of a text, those of the text before it taken over where it only grew. So a long answer that streams in
 * is not read from its start with every word.
 */
export function sectionsOf(text: string, before: Sections = []): Sections {
  const closed = before.slice(0, -1);
  const length = closed.reduce((sum, { source }) => sum + source.length, 0);
  const isGrown = closed.length > 0 && text.startsWith(closed.map(({ source }) => source).join(""));
  if (!isGrown) return withLastClosed([], read(text));
  return withLastClosed(closed, read(text.slice(length)));
}

/** Splits what is finished off the last document: all blocks but the last one. */
function withLastClosed(closed: Sections, last: MarkdownDocument): Sections {
  const blocks = last.root.children;
  const end = blocks.at(-1)?.position?.start.offset ?? 0;
  if (blocks.length < 2 || end < WORTH_CLOSING) return [...closed, last];
  // Links and footnotes may be defined further down, or be used there.
  if (/^ {0,3}\[[^\]\n]+\]:/m.test(last.source) || last.source.includes("[^")) return [...closed, last];
  return [...closed, read(last.source.slice(0, end)), read(last.source.slice(end))];
}

function read(text: string): MarkdownDocument {
  return parseMarkdown(text, { formulas: true });
}
