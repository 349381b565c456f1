import { type MarkdownDocument, parseMarkdown } from "@signalbox/channel/markdown";

/** A growing text, split into documents. Only the last one can still change. */
export type Sections = readonly MarkdownDocument[];

/** Minimum length of a document in characters. */
const WORTH_CLOSING = 2000;

/**
 * Splits a text into sections and reuses those of the previous text if it has only grown. A long streaming answer is
 * then not parsed from its start with every delta.
 */
export function sectionsOf(text: string, before: Sections = []): Sections {
  const closed = before.slice(0, -1);
  const length = closed.reduce((sum, { source }) => sum + source.length, 0);
  const isGrown = closed.length > 0 && text.startsWith(closed.map(({ source }) => source).join(""));
  if (!isGrown) return withLastClosed([], read(text));
  return withLastClosed(closed, read(text.slice(length)));
}

/** Splits the finished blocks, which are all but the last one, off the last document. */
function withLastClosed(closed: Sections, last: MarkdownDocument): Sections {
  const blocks = last.root.children;
  const end = blocks.at(-1)?.position?.start.offset ?? 0;
  if (blocks.length < 2 || end < WORTH_CLOSING) return [...closed, last];
  // Definitions of links and footnotes can follow their uses, so such a text stays in one document.
  if (/^ {0,3}\[[^\]\n]+\]:/m.test(last.source) || last.source.includes("[^")) return [...closed, last];
  return [...closed, read(last.source.slice(0, end)), read(last.source.slice(end))];
}

function read(text: string): MarkdownDocument {
  return parseMarkdown(text, { formulas: true });
}
