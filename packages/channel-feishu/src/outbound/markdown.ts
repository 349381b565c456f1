import { loadMarkdown } from "@signalbox/channel";
import { limits } from "../limits.ts";

/** What Feishu is to show a text as: words, a rich text, or a card, which alone knows headings and tables. */
export interface FeishuText {
  readonly as: "text" | "post" | "card";
  readonly text: string;
}

/** A text without any of these reads the same as Markdown, and need not be parsed. */
const marks = /[*_`~#>|[\]\\&]|^\s*(?:[-+]|\d+[.)])\s|^\s*(?:-{3,}|={3,})\s*$/m;

/**
 * Markdown in Feishu's dialect: pictures by address become links, since Feishu shows only those that were uploaded to
 * it, and tables beyond what one element may hold are shown as they are written.
 */
export function toFeishu(markdown: string): FeishuText {
  if (!marks.test(markdown)) return { as: "text", text: markdown };
  const { parseMarkdown, renderMarkdown } = loadMarkdown();
  const document = parseMarkdown(markdown);
  let tables = 0;
  let as: FeishuText["as"] = "post";
  const text = renderMarkdown(document, {
    image: ({ alt, url }) => `[${alt || "image"}](${/[\s()]/.test(url) ? `<${url}>` : url})`,
    heading: (node, { rewrite }) => {
      as = "card";
      return rewrite(node);
    },
    table: (node, { rewrite, source }) => {
      as = "card";
      tables += 1;
      return tables > limits.cardTables ? `\`\`\`\n${source(node)}\n\`\`\`` : rewrite(node);
    },
  });
  return { as, text };
}
