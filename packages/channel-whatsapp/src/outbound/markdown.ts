import { type MarkdownRules, renderMarkdown } from "@signalbox/channel/markdown";

/** Marks around a formatted range: private-use characters, which are replaced at the end. */
const marks = {
  strong: ["\ue001", "\ue002", "*"],
  emphasis: ["\ue003", "\ue004", "_"],
  delete: ["\ue005", "\ue006", "~"],
} as const;

const PRIVATE = /[\ue001-\ue006]/g;

type Range = keyof typeof marks;

function wrap(range: Range, text: string): string {
  const [start, end] = marks[range];
  const inner = text.trim();
  // WhatsApp formats only within a line.
  return inner === "" || inner.includes("\n") ? text : start + inner + end;
}

const rules: MarkdownRules = {
  root: (node, { inner }) => inner(node, "\n\n"),
  paragraph: (node, { inner }) => inner(node),
  heading: (node, { inner }) => wrap("strong", inner(node).replace(/[\ue001\ue002]/g, "")),
  text: ({ value }) => value,
  emphasis: (node, { inner }) => wrap("emphasis", inner(node)),
  strong: (node, { inner }) => wrap("strong", inner(node)),
  delete: (node, { inner }) => wrap("delete", inner(node)),
  inlineCode: ({ value }) => (value.includes("`") ? value : `\`${value}\``),
  code: ({ value }) => codeBlock(value),
  blockquote: (node, { inner }) => inner(node, "\n").replace(/^/gm, "> "),
  list: (node, { write }) =>
    node.children
      .map((item, index) => {
        const marker = node.ordered ? `${(node.start ?? 1) + index}.` : "-";
        return `${marker} ${write(item).replaceAll("\n", "\n   ")}`;
      })
      .join("\n"),
  listItem: (node, { inner }) => {
    const box = node.checked === null || node.checked === undefined ? "" : node.checked ? "☑ " : "☐ ";
    return box + inner(node, "\n");
  },
  link: (node, { inner }) => withUrl(inner(node), node.url),
  image: (node) => withUrl(node.alt ?? "", node.url),
  linkReference: (node, { inner }) => inner(node),
  imageReference: ({ alt }) => alt ?? "",
  definition: ({ label, identifier, url }) => `${label ?? identifier}: ${url}`,
  footnoteReference: ({ identifier }) => `[${identifier}]`,
  footnoteDefinition: (node, { inner }) => `[${node.identifier}] ${inner(node, "\n")}`,
  break: () => "\n",
  thematicBreak: () => "———",
  // Columns align only in a monospaced font.
  table: (node, { source }) => codeBlock(source(node)),
};

/** Converts Markdown to the markup of WhatsApp. Source: "How to format your messages" in WhatsApp's help. */
export function toWhatsApp(markdown: string): string {
  return writeMarks(renderMarkdown(markdown.replace(PRIVATE, ""), rules));
}

/**
 * Writes the marks of formatted ranges. WhatsApp ignores marks next to a letter or digit and would show them, for
 * instance in Chinese, which has no spaces. Such ranges lose their formatting.
 */
function writeMarks(text: string): string {
  let written = text;
  for (const [start, end, mark] of Object.values(marks)) {
    const range = new RegExp(`${start}([^${start}${end}]*)${end}`, "gu");
    written = written.replace(range, (whole, inner: string, at: number, all: string) => {
      const isAlone = !isWord(all.slice(0, at), -1) && !isWord(all.slice(at + whole.length), 0);
      return isAlone ? mark + inner + mark : inner;
    });
  }
  return written.replace(PRIVATE, "");
}

/** Returns true if the text begins (0) or ends (-1) with a letter or digit. */
function isWord(text: string, at: 0 | -1): boolean {
  return (at === 0 ? /^[\p{L}\p{N}]/u : /[\p{L}\p{N}]$/u).test(at === 0 ? text.slice(0, 2) : text.slice(-2));
}

function codeBlock(code: string): string {
  return `\`\`\`\n${code.replaceAll("```", "ˋˋˋ")}\n\`\`\``;
}

function withUrl(label: string, url: string): string {
  return label === "" || label === url || `mailto:${label}` === url ? url : `${label} (${url})`;
}
