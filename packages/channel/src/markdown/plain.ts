import type { MarkdownRules } from "./render.ts";
import { renderMarkdown } from "./render.ts";

/** Renders every node the way people write plain text: without marks, and with the URLs of links. */
export const plainTextRules: MarkdownRules = {
  root: (node, { inner }) => inner(node, "\n\n"),
  paragraph: (node, { inner }) => inner(node),
  heading: (node, { inner }) => inner(node),
  text: ({ value }) => value,
  emphasis: (node, { inner }) => inner(node),
  strong: (node, { inner }) => inner(node),
  delete: (node, { inner }) => inner(node),
  inlineCode: ({ value }) => value,
  code: ({ value }) => value,
  blockquote: (node, { inner }) => inner(node, "\n\n").replace(/^/gm, "> "),
  list: (node, { write }) =>
    node.children
      .map((item, index) => {
        const marker = node.ordered ? `${(node.start ?? 1) + index}.` : "-";
        return `${marker} ${write(item).replaceAll("\n", "\n  ")}`;
      })
      .join("\n"),
  listItem: (node, { inner }) => inner(node, "\n"),
  link: (node, { inner }) => withUrl(inner(node), node.url),
  image: ({ alt, url }) => withUrl(alt ?? "", url),
  linkReference: (node, { inner }) => inner(node),
  break: () => "\n",
};

/** Converts Markdown to plain text that needs no rendering. Tables and HTML remain unchanged. */
export function toPlainText(markdown: string): string {
  const text = renderMarkdown(markdown, plainTextRules);
  return text.trim() === "" ? markdown : text;
}

function withUrl(label: string, url: string): string {
  return label === "" || label === url || `mailto:${label}` === url ? url : `${label} (${url})`;
}
