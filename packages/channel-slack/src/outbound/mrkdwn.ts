import { loadMarkdown } from "@signalbox/channel";
import { quietWords } from "./markdown.ts";

/** Markdown in Slack's own markup, for where Markdown blocks do not serve: notifications, and what Slack refuses. */
export function toMrkdwn(markdown: string): string {
  const { renderMarkdown } = loadMarkdown();
  return renderMarkdown(markdown, {
    root: (node, { inner }) => inner(node, "\n\n"),
    paragraph: (node, { inner }) => inner(node),
    heading: (node, { inner }) => marked("*", inner(node)),
    text: (node) => escapeWords(node.value),
    emphasis: (node, { inner }) => marked("_", inner(node)),
    strong: (node, { inner }) => marked("*", inner(node)),
    delete: (node, { inner }) => marked("~", inner(node)),
    // Slack ends code at the first backtick, and a block at the first three: others that look the same end nothing.
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
    html: (node) => escapeText(quietWords(node.value)),
    break: () => "\n",
    thematicBreak: () => "———",
    // Columns stand below each other in fixed width alone.
    table: (node, { source }) => codeBlock(source(node)),
  });
}

function codeBlock(code: string): string {
  return `\`\`\`\n${escapeText(code).replaceAll("```", "ˋˋˋ")}\n\`\`\``;
}

/** Plain words in Slack's markup; nobody is mentioned by them. */
export function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Words of an answer, in which a mention by id is one. */
function escapeWords(text: string): string {
  return text
    .split(/(<@[UW][A-Z0-9_]+>)/)
    .map((piece, index) => (index % 2 === 1 ? piece : escapeText(quietWords(piece))))
    .join("");
}

/** Marks count on one line and around words alone. */
function marked(mark: string, text: string): string {
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
