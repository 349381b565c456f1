import { imageAsLink, renderMarkdown } from "@signalbox/channel/markdown";

/** Characters that can start markup. Text without them needs no parsing. */
const marks = /[#|![\]]|^\s*(?:[-+*]|\d+[.)])\s|^\s*(?:-{3,}|\*{3,}|_{3,})\s*$|`{3}.*`/m;

/**
 * Converts Markdown to Discord's dialect, which has emphasis, links, lists, quotes, code and three levels of headings.
 * Tables are shown as source, and images become links. If the result exceeds the limit, the source is returned.
 */
export function toDiscordMarkdown(markdown: string, max: number): string {
  if (!marks.test(markdown)) return markdown;
  const text = renderMarkdown(markdown, {
    heading: (node, { inner, rewrite }) => (node.depth > 3 ? `**${inner(node)}**` : rewrite(node)),
    table: (node, { source }) => `\`\`\`\n${replaceBackticks(source(node))}\n\`\`\``,
    code: (node, { source }) => codeBlock(source(node)),
    inlineCode: (node, { source }) =>
      node.value.includes("``") ? `\`\` ${replaceBackticks(node.value)} \`\`` : source(node),
    image: imageAsLink,
    thematicBreak: () => "───",
    listItem: (node, { rewrite }) =>
      typeof node.checked === "boolean"
        ? rewrite(node).replace(/\[[ xX]\]/, node.checked ? "☑" : "☐")
        : rewrite(node),
  });
  return text.length > max ? markdown : text;
}

/** Discord ends a code block at the first three backticks, even if more backticks opened it. */
function codeBlock(source: string): string {
  const [, fence, code = ""] = /^(`{4,})(.*?)`*$/s.exec(source) ?? [];
  return fence === undefined ? source : `\`\`\`${replaceBackticks(code)}\`\`\``;
}

/** Replaces repeated backticks with a character that looks the same. */
function replaceBackticks(code: string): string {
  return code.replace(/`{2,}/g, (ticks) => "ˋ".repeat(ticks.length));
}

const address = /https?:\/\/[^\s<>]+/g;

/**
 * Escapes plain text, so that Discord renders no markup, links or mentions. URLs stay intact. If the result exceeds the
 * limit, the text is returned unchanged.
 */
export function plainText(text: string, max: number): string {
  let escaped = "";
  let at = 0;
  for (const match of text.matchAll(address)) {
    escaped += escapeMarkup(text.slice(at, match.index)) + match[0];
    at = match.index + match[0].length;
  }
  escaped += escapeMarkup(text.slice(at));
  return escaped.length > max ? text : escaped;
}

function escapeMarkup(text: string): string {
  return text
    .replace(/[\\*_`~|<[]/g, "\\$&")
    .replace(/^(\s*)(#{1,3}|>{1,3}|-#|[-+])(?=\s)/gm, "$1\\$2")
    .replace(/^(\s*\d+)([.)])(?=\s)/gm, "$1\\$2");
}
