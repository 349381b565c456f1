import { loadMarkdown, normalizeLineEnds } from "@signalbox/channel";
import type { MarkdownRules } from "@signalbox/channel/markdown";
import { limits } from "../limits.ts";

/** What Feishu is to show a text as: words, a rich text, or a card, which alone knows headings and tables. */
export interface FeishuText {
  readonly as: "text" | "post" | "card";
  readonly text: string;
}

/** A text without any of these reads the same as Markdown, and need not be parsed. */
const marks = /[*_`~#>|[\]\\&]|^\s*(?:[-+]|\d+[.)])\s|^\s*(?:-{3,}|={3,})\s*$/m;

/** A section without any of these has no picture, heading or table: it stays as it is, and is not parsed either. */
const changes = /!\[|\||#(?:[ \t]|$)|^[ \t>]*(?:=+|-+)[ \t]*$/m;

/**
 * Markdown in Feishu's dialect: pictures by address become links, since Feishu shows only those that were uploaded to
 * it, and tables beyond what one element may hold are shown as they are written.
 */
export function toFeishu(markdown: string): FeishuText {
  if (!marks.test(markdown)) return { as: "text", text: markdown };
  const { pictureAsLink, renderMarkdown, sectionsOf } = loadMarkdown();
  let tables = 0;
  let as: FeishuText["as"] = "post";
  const rules: MarkdownRules = {
    image: pictureAsLink,
    heading: (node, { rewrite }) => {
      as = "card";
      return rewrite(node);
    },
    table: (node, { rewrite, source }) => {
      as = "card";
      tables += 1;
      return tables > limits.cardTables ? `\`\`\`\n${source(node)}\n\`\`\`` : rewrite(node);
    },
  };
  const sections = sectionsOf(normalizeLineEnds(markdown));
  const text = sections.map((section) => (changes.test(section) ? renderMarkdown(section, rules) : section));
  return { as, text: text.join("") };
}
