import { type MarkdownRules, renderMarkdown } from "@signalbox/channel/markdown";

/** Writes an answer the way a person would read it aloud: without code blocks, addresses and marks. */
const SPOKEN: MarkdownRules = {
  root: (node, { inner }) => inner(node, "\n\n"),
  paragraph: (node, { inner }) => inner(node),
  heading: (node, { inner }) => inner(node),
  text: ({ value }) => value,
  emphasis: (node, { inner }) => inner(node),
  strong: (node, { inner }) => inner(node),
  delete: (node, { inner }) => inner(node),
  inlineCode: ({ value }) => value,
  code: () => "",
  html: () => "",
  blockquote: (node, { inner }) => inner(node, "\n\n"),
  list: (node, { write }) =>
    node.children
      .map((item, index) => (node.ordered ? `${(node.start ?? 1) + index}. ${write(item)}` : write(item)))
      .join("\n"),
  listItem: (node, { inner }) => inner(node, "\n"),
  table: (node, { inner }) => inner(node, "\n"),
  tableRow: (node, { inner }) => inner(node, ", "),
  tableCell: (node, { inner }) => inner(node),
  link: (node, { inner }) => inner(node),
  linkReference: (node, { inner }) => inner(node),
  image: ({ alt }) => alt ?? "",
  imageReference: ({ alt }) => alt ?? "",
  definition: () => "",
  footnoteDefinition: () => "",
  footnoteReference: () => "",
  thematicBreak: () => "",
  break: () => "\n",
};

/** Addresses in text, with the brackets around them. */
const ADDRESSES = /[(<（]?\b(?:https?:\/\/|www\.)[^\s<>()（）]+[)>）]?/gi;
/** Emoji, flags, skin tones, and the invisible characters that join and color them. */
const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\p{Emoji_Modifier}|\u200d|\ufe0f|\u20e3/gu;
const SENTENCE_ENDS = /[.!?…](?=\s|$)|[。！？]|\n/g;

/**
 * Converts an answer to a text to read aloud.
 *
 * @param maxCharacters a longer text ends after the last sentence that fits, or else after the last word
 * @returns an empty text if there is nothing to read aloud
 */
export function toSpokenText(markdown: string, maxCharacters: number): string {
  const text = renderMarkdown(markdown, SPOKEN)
    .replace(ADDRESSES, "")
    .replace(EMOJI, "")
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  if (!/[\p{L}\p{N}]/u.test(text)) return "";
  return text.length <= maxCharacters ? text : cutAtSentence(text.slice(0, maxCharacters));
}

function cutAtSentence(text: string): string {
  const ends = [...text.matchAll(SENTENCE_ENDS)];
  const end = (ends.at(-1)?.index ?? -1) + 1;
  // A short first sentence must not replace a long text without sentences.
  if (end > text.length / 2) return text.slice(0, end).trim();
  const space = text.search(/\s\S*$/);
  const cut = space > text.length / 2 ? text.slice(0, space) : text;
  // The limit may be in the middle of a character.
  return cut.replace(/[\ud800-\udbff]$/, "").trim();
}
