import { loadMarkdown } from "@signalbox/channel";

/** A text without any of these reads the same as Markdown, and need not be parsed. */
const marks = /[#|![\]]|^\s*(?:[-+*]|\d+[.)])\s|^\s*(?:-{3,}|\*{3,}|_{3,})\s*$|`{3}.*`/m;

/**
 * Markdown in Discord's dialect: it knows emphasis, links, lists, quotes, code and three kinds of headings. Tables are
 * shown as they are written, pictures by address become links. What would be too long that way stays as it was.
 */
export function toDiscord(markdown: string, most: number): string {
  if (!marks.test(markdown)) return markdown;
  const { pictureAsLink, renderMarkdown } = loadMarkdown();
  const text = renderMarkdown(markdown, {
    heading: (node, { inner, rewrite }) => (node.depth > 3 ? `**${inner(node)}**` : rewrite(node)),
    table: (node, { source }) => `\`\`\`\n${otherTicks(source(node))}\n\`\`\``,
    code: (node, { source }) => codeBlock(source(node)),
    inlineCode: (node, { source }) =>
      node.value.includes("``") ? `\`\` ${otherTicks(node.value)} \`\`` : source(node),
    image: pictureAsLink,
    thematicBreak: () => "───",
    listItem: (node, { rewrite }) =>
      typeof node.checked === "boolean"
        ? rewrite(node).replace(/\[[ xX]\]/, node.checked ? "☑" : "☐")
        : rewrite(node),
  });
  return text.length > most ? markdown : text;
}

/** Discord ends a block of code at the first three backticks, however many it begins with. */
function codeBlock(source: string): string {
  const [, fence, code = ""] = /^(`{4,})(.*?)`*$/s.exec(source) ?? [];
  return fence === undefined ? source : `\`\`\`${otherTicks(code)}\`\`\``;
}

/** Backticks in a row that count for nothing, and look the same. */
function otherTicks(code: string): string {
  return code.replace(/`{2,}/g, (ticks) => "ˋ".repeat(ticks.length));
}

const address = /https?:\/\/[^\s<>]+/g;

/**
 * Plain words: what Discord would take for markup, a link or a mention is escaped, as far as there is room; addresses
 * stay whole.
 */
export function plainText(text: string, most: number): string {
  let escaped = "";
  let at = 0;
  for (const match of text.matchAll(address)) {
    escaped += escapeMarkup(text.slice(at, match.index)) + match[0];
    at = match.index + match[0].length;
  }
  escaped += escapeMarkup(text.slice(at));
  return escaped.length > most ? text : escaped;
}

function escapeMarkup(text: string): string {
  return text
    .replace(/[\\*_`~|<[]/g, "\\$&")
    .replace(/^(\s*)(#{1,3}|>{1,3}|-#|[-+])(?=\s)/gm, "$1\\$2")
    .replace(/^(\s*\d+)([.)])(?=\s)/gm, "$1\\$2");
}
