import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import Turndown from "turndown";

/** An HTML page and its URL. */
export interface ArticleInput {
  readonly html: string;
  readonly url: string;
}

export interface Article {
  /** The text as Markdown. */
  readonly text: string;
  readonly title?: string;
}

const MAX_ELEMENTS = 30_000;
const MAX_LINK_CHARS = 500;

/** Extracts a page's main text as Markdown. Returns undefined if there is none. Only loaded in a worker thread. */
export function extractArticle({ html, url }: ArticleInput): Article | undefined {
  const { document } = parseHTML(html);
  const article = new Readability(document, {
    maxElemsToParse: MAX_ELEMENTS,
    serializer: (node) => node,
  }).parse();
  const node: unknown = article?.content;
  if (!isElement(node)) return undefined;
  const turndown = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  // Models read the text unrendered, so escapes would only add noise.
  turndown.escape = (text) => text;
  turndown.remove(["script", "style", "noscript", "iframe", "form", "button"]);
  turndown.addRule("pictures", { filter: "img", replacement: (_content, image) => formatImage(image) });
  turndown.addRule("links", { filter: "a", replacement: (content, link) => formatLink(content, link, url) });
  const title = article?.title;
  return { text: turndown.turndown(node), ...(title === undefined || title === null ? {} : { title }) };
}

type Element = Parameters<Turndown["turndown"]>[0] & { getAttribute(name: string): string | null };

function isElement(value: unknown): value is Element {
  return typeof value === "object" && value !== null && "getAttribute" in value && "cloneNode" in value;
}

function formatImage(image: unknown): string {
  const alt = isElement(image) ? (image.getAttribute("alt") ?? "").replace(/\s+/g, " ").trim() : "";
  return alt === "" ? "" : `[image: ${alt.slice(0, 200)}]`;
}

function formatLink(content: string, link: unknown, base: string): string {
  const words = content.replace(/\s+/g, " ").trim();
  const target = isElement(link) ? URL.parse(link.getAttribute("href") ?? "", base) : null;
  if (words === "" || target === null || !/^https?:$/.test(target.protocol)) return words;
  if (target.href.length > MAX_LINK_CHARS) return words;
  return `[${words}](${target.href.replaceAll("(", "%28").replaceAll(")", "%29")})`;
}
