export { type MarkdownDocument, type MarkdownOptions, parseMarkdown, sourceOf } from "./parse.ts";
export { type MarkdownRules, type MarkdownWriter, renderMarkdown } from "./render.ts";
export { sectionsOf } from "./sections.ts";
export { splitMarkdown } from "./split.ts";
