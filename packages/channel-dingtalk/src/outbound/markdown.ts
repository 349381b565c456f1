import { imageAsLink, type MarkdownRules, renderMarkdown } from "@signalbox/channel/markdown";

/**
 * Protocols of links. DingTalk's own `dtmd:` links send a message in the name of the person who clicks them, so a page
 * or a document could make the agent show a link that approves something.
 */
const SAFE = /^(?:https?|mailto|tel):/i;

const shared: MarkdownRules = {
  // DingTalk joins lines unless they end with two spaces.
  text: (node, { source }) => source(node).replaceAll("\n", "  \n"),
  break: () => "  \n",
  image: imageAsLink,
  link: (node, { inner, rewrite }) => (SAFE.test(node.url) ? rewrite(node) : inner(node)),
  definition: (node, { source }) => (SAFE.test(node.url) ? source(node) : ""),
  html: ({ value }) => value.replaceAll("<", "&lt;"),
};

/** DingTalk's messages do not show tables on all clients. Rows become lines. */
const messageRules: MarkdownRules = {
  ...shared,
  table: (node, { inner }) =>
    node.children
      .map((row, index) => {
        const cells = row.children.map((cell) => inner(cell));
        return (index === 0 ? cells.map((cell) => (cell === "" ? "" : `**${cell}**`)) : cells).join(" | ");
      })
      .join("  \n"),
};

/** Renders Markdown for a message. */
export function toMessageMarkdown(text: string): string {
  return renderMarkdown(text, messageRules);
}

/** Renders Markdown for a card, which shows tables. */
export function toCardMarkdown(text: string): string {
  return renderMarkdown(text, shared);
}

/** Writes plain text as Markdown that shows it unchanged. */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/[\\`*_~[\]#<>|]/g, "\\$&")
    .replace(/^([ \t]*)([-+]|\d+\.)(?=\s)/gm, "$1\\$2")
    .replaceAll("\n", "  \n");
}
