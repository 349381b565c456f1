import { renderMarkdown } from "@signalbox/channel/markdown";
import { escapeBroadcasts } from "./markdown.ts";

/**
 * Converts Markdown to mrkdwn, Slack's own markup, for notifications and for workspaces that reject Markdown blocks.
 */
export function toMrkdwn(markdown: string): string {
  return renderMarkdown(markdown, {
    root: (node, { inner }) => inner(node, "\n\n"),
    paragraph: (node, { inner }) => inner(node),
    heading: (node, { inner }) => wrapInMarks("*", inner(node)),
    text: (node) => escapeKeepingMentions(node.value),
    emphasis: (node, { inner }) => wrapInMarks("_", inner(node)),
    strong: (node, { inner }) => wrapInMarks("*", inner(node)),
    delete: (node, { inner }) => wrapInMarks("~", inner(node)),
    // Slack ends inline code at the first backtick and a code block at the first three, so backticks are replaced with
    // similar characters.
    inlineCode: (node) => `\`${escapeText(node.value).replaceAll("`", "ˋ")}\``,
    code: (node) => codeBlock(node.value),
    blockquote: (node, { inner }) => inner(node, "\n\n").replace(/^/gm, "> "),
    list: (node, { write }) =>
      node.children
        .map((item, index) => {
          const marker = node.ordered ? `${(node.start ?? 1) + index}.` : "•";
          return `${marker} ${write(item).replaceAll("\n", "\n    ")}`;
        })
        .join("\n"),
    listItem: (node, { inner }) => {
      const box = node.checked === null || node.checked === undefined ? "" : node.checked ? "☑ " : "☐ ";
      return box + inner(node, "\n");
    },
    link: (node, { inner }) => link(node.url, inner(node)),
    image: ({ alt, url }) => link(url, escapeText(alt || "image")),
    linkReference: (node, { inner }) => inner(node),
    imageReference: ({ alt }) => escapeText(alt ?? ""),
    definition: ({ label, identifier, url }) => `${escapeText(label ?? identifier)}: ${link(url, "")}`,
    footnoteReference: ({ identifier }) => `[${escapeText(identifier)}]`,
    footnoteDefinition: (node, { inner }) => `[${escapeText(node.identifier)}] ${inner(node, "\n")}`,
    html: (node) => escapeText(escapeBroadcasts(node.value)),
    break: () => "\n",
    thematicBreak: () => "———",
    // Columns align only in a monospaced font.
    table: (node, { source }) => codeBlock(source(node)),
  });
}

function codeBlock(code: string): string {
  return `\`\`\`\n${escapeText(code).replaceAll("```", "ˋˋˋ")}\n\`\`\``;
}

/** Escapes plain text, so that it cannot mention anyone. */
export function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Escapes text but keeps user mentions by id. */
function escapeKeepingMentions(text: string): string {
  return text
    .split(/(<@[UW][A-Z0-9_]+>)/)
    .map((piece, index) => (index % 2 === 1 ? piece : escapeText(escapeBroadcasts(piece))))
    .join("");
}

/** Slack's marks work only within one line and directly next to text. */
function wrapInMarks(mark: string, text: string): string {
  const words = text.trim();
  return words === "" || words.includes("\n") ? text : mark + words + mark;
}

function link(url: string, label: string): string {
  if (!/^(?:https?|mailto):/i.test(url))
    return label === "" ? escapeText(url) : `${label} (${escapeText(url)})`;
  const target = escapeText(url).replaceAll("|", "%7C");
  const words = label.replaceAll("|", "¦");
  return words === "" || words === target ? `<${target}>` : `<${target}|${words}>`;
}
