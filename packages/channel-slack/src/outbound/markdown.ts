import { loadMarkdown } from "@signalbox/channel";

/** A text without any of these needs no look at its tree. */
const suspicious = /[<@]|!\[/;
/** What calls everybody, or a group, wherever it stands. */
const calls = /<(?=!(?:channel|here|everyone|subteam|date)\b)/g;

/**
 * Markdown as a Markdown block shows it: nobody is called by words that only look like a call, pictures become links,
 * since Slack shows only those that were uploaded to it, and in code and addresses nobody is mentioned.
 */
export function toMarkdownBlock(markdown: string): string {
  if (!suspicious.test(markdown)) return markdown;
  const { pictureAsLink, renderMarkdown } = loadMarkdown();
  const written = renderMarkdown(markdown, {
    image: pictureAsLink,
    text: (node, { source }) => quietWords(source(node)),
    code: (node, { source }) => inert(source(node)),
    inlineCode: (node, { source }) => inert(source(node)),
    // A line that begins with `<!channel>` is HTML to a reader of Markdown.
    html: (node, { source }) => inert(quietWords(source(node))),
  });
  // Words of pictures and titles of links belong to no node of their own.
  return written.replace(calls, "<\u200b");
}

/** Takes apart what calls everybody; a mention of one person by id stays. */
export function quietWords(text: string): string {
  return text.replace(/<(?=!)/g, "<\u200b").replace(/@(?=(?:channel|here|everyone)\b)/gi, "@\u200b");
}

/** Takes mentions apart, as people may write them into code. */
function inert(text: string): string {
  return text.replace(/<(?=[@#][A-Z])/g, "<\u200b");
}
