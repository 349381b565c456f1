export { getSource, type MarkdownDocument, parseMarkdown } from "./parse.ts";
export { plainTextRules, toPlainText } from "./plain.ts";
export { imageAsLink, type MarkdownRules, renderMarkdown } from "./render.ts";
