export { type MarkdownDocument, type MarkdownOptions, parseMarkdown, sourceOf } from "./parse.ts";
export { type MarkdownRules, type MarkdownWriter, pictureAsLink, renderMarkdown } from "./render.ts";
export { sectionsOf } from "./sections.ts";
export { splitMarkdown } from "./split.ts";
