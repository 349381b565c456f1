import { normalizeLineEnds } from "@signalbox/channel";
import { imageAsLink, type MarkdownRules, renderMarkdown } from "@signalbox/channel/markdown";
import { limits } from "../limits.ts";

/** A text and the type of message that can display it. Only cards have headings and tables. */
export interface FeishuText {
  readonly as: "text" | "post" | "card";
  readonly text: string;
}

/** Characters that can start markup. A text without them is the same in Markdown and need not be parsed. */
const marks = /[*_`~#>|[\]\\&]|^[ \t]*(?:[-+]|\d+[.)])\s|^[ \t]*(?:-{3,}|={3,})[ \t]*$/m;

/** The syntax of images, headings and tables. A text without them stays unchanged and need not be parsed. */
const needsRules = /!\[|\||#(?:[ \t]|$)|^[ \t>]*(?:=+|-+)[ \t]*$/m;

/**
 * Converts Markdown to Feishu's dialect. Images with a URL become links, because Feishu shows only uploaded images.
 * Tables beyond the limit of a card are shown as code.
 */
export function toFeishu(markdown: string): FeishuText {
  if (!marks.test(markdown)) return { as: "text", text: markdown };
  let tables = 0;
  let as: FeishuText["as"] = "post";
  const rules: MarkdownRules = {
    image: imageAsLink,
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
  const source = normalizeLineEnds(markdown);
  const text = needsRules.test(source) ? renderMarkdown(source, rules) : source;
  return { as, text };
}
