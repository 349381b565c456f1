import { imageAsLink, renderMarkdown } from "@signalbox/channel/markdown";

/** Characters that require parsing. Other text stays unchanged. */
const mayNeedEscaping = /[<@]|!\[/;
/** Mentions of a channel or a group. */
const broadcastMentions = /<(?=!(?:channel|here|everyone|subteam|date)\b)/g;

/**
 * Prepares Markdown for a Markdown block: escapes mentions of channels and groups, converts images to links (Slack
 * shows only uploaded ones), and escapes mentions in code and URLs.
 */
export function toMarkdownBlock(markdown: string): string {
  if (!mayNeedEscaping.test(markdown)) return markdown;
  const written = renderMarkdown(markdown, {
    image: imageAsLink,
    text: (node, { source }) => escapeBroadcasts(source(node)),
    code: (node, { source }) => escapeMentions(source(node)),
    inlineCode: (node, { source }) => escapeMentions(source(node)),
    // CommonMark reads a line that starts with `<!channel>` as HTML.
    html: (node, { source }) => escapeMentions(escapeBroadcasts(source(node))),
  });
  // Image descriptions and link titles are not separate nodes in the tree.
  return written.replace(broadcastMentions, "<\u200b");
}

/** Escapes mentions of channels and groups. Keeps mentions of single users by id. */
export function escapeBroadcasts(text: string): string {
  return text.replace(/<(?=!)/g, "<\u200b").replace(/@(?=(?:channel|here|everyone)\b)/gi, "@\u200b");
}

/** Escapes mentions in code. */
function escapeMentions(text: string): string {
  return text.replace(/<(?=[@#][A-Z])/g, "<\u200b");
}
