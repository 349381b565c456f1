import type { Image, Nodes, Parents } from "mdast";
import { endOf, getSource, isParent, type MarkdownDocument, parseMarkdown, startOf } from "./parse.ts";

/** Functions that a platform's rules can call. */
interface MarkdownWriter {
  /** Writes a node according to its rule. Without a rule, it stays unchanged. */
  write(node: Nodes): string;
  /** Writes the children of a node, separated by `between`. */
  inner(node: Parents, between?: string): string;
  /** Writes a node unchanged, but applies the rules to its children. */
  rewrite(node: Nodes): string;
  /** Returns the Markdown source of a node. */
  source(node: Nodes): string;
}

/**
 * Functions that write each node type in a platform's markup. A node without a rule stays unchanged, except for its
 * children. The text of a link without a rule stays unchanged too, so a rule for `text` finds mentions only in prose.
 */
export type MarkdownRules = {
  readonly [Type in Nodes["type"]]?: (node: Extract<Nodes, { type: Type }>, writer: MarkdownWriter) => string;
};

/**
 * Translates Markdown into a platform's markup. A few rules are enough for a platform that reads Markdown itself: they
 * change those nodes only. With a rule for every type, including `text`, the result is another markup.
 *
 * @example
 * ```ts
 * renderMarkdown("**Hi** there", { strong: (node, { inner }) => `*${inner(node)}*` }); // "*Hi* there"
 * ```
 */
export function renderMarkdown(markdown: string | MarkdownDocument, rules: MarkdownRules): string {
  const { source, root } = typeof markdown === "string" ? parseMarkdown(markdown) : markdown;

  let isInLink = false;

  const writer: MarkdownWriter = {
    write(node) {
      if (isInLink && node.type === "text") return getSource(source, node);
      return (getRule(node, rules) ?? rewrite)(node, writer);
    },
    inner: (node, between = "") => node.children.map((child) => writer.write(child)).join(between),
    rewrite,
    source: (node) => getSource(source, node),
  };

  function rewrite(node: Nodes): string {
    if (!isParent(node)) return getSource(source, node);
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

/** Rule for images on platforms that do not display images from URLs: a link to the image. */
export function imageAsLink({ alt, url }: Image): string {
  const label = (alt || "image").replace(/[\\[\]]/g, "\\$&");
  return `[${label}](${/[\s()]/.test(url) ? `<${url}>` : url})`;
}

type Rule = (node: Nodes, writer: MarkdownWriter) => string;

/** Returns the rule for a node. TypeScript cannot relate the type of the rule to the type of the node. */
function getRule(node: Nodes, rules: MarkdownRules): Rule | undefined {
  return rules[node.type] as Rule | undefined;
}
