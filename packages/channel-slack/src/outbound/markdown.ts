import { loadMarkdown } from "@signalbox/channel";

/** A text without any of these needs no look at its tree. */
const suspicious = /[<@]|!\[/;

/**
 * Markdown as a Markdown block shows it: nobody is called by words that only look like a call, pictures become links,
 * since Slack shows only those that were uploaded to it, and in code and addresses nobody is mentioned.
 */
export function toMarkdownBlock(markdown: string): string {
  if (!suspicious.test(markdown)) return markdown;
  const { renderMarkdown } = loadMarkdown();
  return renderMarkdown(markdown, {
    image: ({ alt, url }) => `[${alt || "image"}](${/[\s()]/.test(url) ? `<${url}>` : url})`,
    text: (node, { source }) => quietWords(source(node)),
    code: (node, { source }) => inert(source(node)),
    inlineCode: (node, { source }) => inert(source(node)),
    // A line that begins with `<!channel>` is HTML to a reader of Markdown.
    html: (node, { source }) => inert(quietWords(source(node))),
  });
}

/** Takes apart what calls everybody; a mention of one person by id stays. */
export function quietWords(text: string): string {
  return text.replace(/<(?=!)/g, "<\u200b").replace(/@(?=(?:channel|here|everyone)\b)/gi, "@\u200b");
}

/** Takes apart every call and mention, as people may write them into code. */
function inert(text: string): string {
  return text.replace(/<(?=[@#][A-Z]|!(?:channel|here|everyone|subteam|date)\b)/g, "<\u200b");
}
