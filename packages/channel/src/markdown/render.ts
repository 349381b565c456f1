import type { Image, Nodes, Parents } from "mdast";
import { endOf, isParent, type MarkdownDocument, parseMarkdown, sourceOf, startOf } from "./parse.ts";

/** What the rules of a platform write with. */
export interface MarkdownWriter {
  /** A node by its rule, or as it was written if it has none. */
  write(node: Nodes): string;
  /** The children one after the other, `between` between two. */
  inner(node: Parents, between?: string): string;
  /** The node as it was written, but for what the rules make of its children. */
  rewrite(node: Nodes): string;
  /** The node as it was written, rules or not. */
  source(node: Nodes): string;
}

/**
 * How a platform writes each type of node. A node without a rule stays as it was written, except for its children. The
 * words of a link without a rule also stay, so a rule for `text` finds mentions only in words.
 */
export type MarkdownRules = {
  readonly [Type in Nodes["type"]]?: (node: Extract<Nodes, { type: Type }>, writer: MarkdownWriter) => string;
};

/**
 * Writes Markdown in a platform's markup. With a few rules it changes those nodes and nothing else, for platforms that
 * read Markdown themselves; with a rule for each type, `text` included, it writes another markup altogether.
 */
export function renderMarkdown(markdown: string | MarkdownDocument, rules: MarkdownRules): string {
  const { source, root } = typeof markdown === "string" ? parseMarkdown(markdown) : markdown;

  let isInLink = false;

  const writer: MarkdownWriter = {
    write(node) {
      if (isInLink && node.type === "text") return sourceOf(source, node);
      return (ruleOf(node, rules) ?? rewrite)(node, writer);
    },
    inner: (node, between = "") => node.children.map((child) => writer.write(child)).join(between),
    rewrite,
    source: (node) => sourceOf(source, node),
  };

  function rewrite(node: Nodes): string {
    if (!isParent(node)) return sourceOf(source, node);
    const wasInLink = isInLink;
    isInLink ||= node.type === "link" || node.type === "linkReference";
    let text = "";
    let at = startOf(node);
    for (const child of node.children) {
      text += source.slice(at, startOf(child)) + writer.write(child);
      at = endOf(child);
    }
    isInLink = wasInLink;
    return text + source.slice(at, endOf(node));
  }

  return writer.write(root);
}

/** The rule of a picture for platforms that show none by its address: a link to it. */
export function pictureAsLink({ alt, url }: Image): string {
  const label = (alt || "image").replace(/[\\[\]]/g, "\\$&");
  return `[${label}](${/[\s()]/.test(url) ? `<${url}>` : url})`;
}

type Rule = (node: Nodes, writer: MarkdownWriter) => string;

/** The rule of a node's type. TypeScript does not see that the two belong together. */
function ruleOf(node: Nodes, rules: MarkdownRules): Rule | undefined {
  return rules[node.type] as Rule | undefined;
}
