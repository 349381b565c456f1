import { createSemaphore } from "../semaphore.ts";
import { getWorkerFile, runInThread } from "../thread.ts";
import type { Article } from "./article.ts";
import { FetchError } from "./errors.ts";
import type { FetchedResource } from "./guarded-fetch.ts";

/** A page as text. Its content is untrusted. */
export interface PageText {
  readonly url: string;
  readonly title?: string;
  /** Markdown for HTML pages. Other text is unchanged. */
  readonly text: string;
  /** True if the text was cut. */
  readonly cut: boolean;
}

export interface PageTextOptions {
  /** Maximum length of the text in UTF-16 units. Default: 20,000. */
  readonly maxChars?: number;
  /**
   * Time limit for extracting a page's article, including the wait for a thread, in milliseconds. The time limit of the
   * request also applies. If it is exceeded, the page's plain text is returned. Default: 15,000.
   */
  readonly parseMs?: number;
  readonly signal?: AbortSignal;
}

/** Maximum length of HTML to parse, in UTF-16 units. */
const MAX_HTML_CHARS = 1_000_000;
/**
 * Maximum number of tags in a page that is parsed for its article. For pages with more tags, the plain text is
 * returned.
 */
const MAX_TAGS = 60_000;
/** Limits the number of threads in the whole process that parse pages and PDFs. */
const parsers = createSemaphore(2);

/**
 * Converts a fetched resource to text: the article of an HTML page as Markdown with its links, the text of a PDF,
 * indented JSON, or any other text unchanged.
 *
 * @throws FetchError `type` if the resource contains no text, or the signal's reason if it is aborted
 */
export async function extractPageText(
  resource: FetchedResource,
  options: PageTextOptions = {},
): Promise<PageText> {
  const { maxChars = 20_000, parseMs = 15_000, signal } = options;
  const { deadline = Number.POSITIVE_INFINITY } = resource;
  const limitMs = Math.ceil(Math.min(parseMs, deadline - performance.now()));
  const content = await extractContent(resource, limitMs, signal);
  const clean = cleanText(content.text);
  const title =
    content.title === undefined ? undefined : cleanText(content.title).replace(/\s+/g, " ").slice(0, 200);
  return {
    url: resource.url,
    ...(title === undefined || title === "" ? {} : { title: title.toWellFormed() }),
    text: clean.slice(0, maxChars).toWellFormed(),
    cut: content.cut === true || clean.length > maxChars,
  };
}

interface Content extends Article {
  /** True if only the start of the page was parsed. Default: false. */
  readonly cut?: boolean;
}

async function extractContent(
  resource: FetchedResource,
  parseMs: number,
  signal: AbortSignal | undefined,
): Promise<Content> {
  const type = resource.contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "application/pdf") return extractPdf(resource, parseMs, signal);
  const text = decode(resource, type);
  const isHtml =
    type === "text/html" ||
    type === "application/xhtml+xml" ||
    (type === "" && /^\s*<(!doctype html|html)/i.test(text));
  if (isHtml) return toArticle(text, resource.url, parseMs, signal);
  return { text: /^application\/(.+\+)?json$/.test(type) ? indentJson(text) : text };
}

/** Indents JSON, so that excerpts are readable. Returns invalid JSON unchanged. */
function indentJson(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 1);
  } catch {
    return json;
  }
}

async function extractPdf(
  { bytes, url }: FetchedResource,
  parseMs: number,
  signal: AbortSignal | undefined,
): Promise<Article> {
  const pdf = await parseInThread("pdf-worker", bytes, parseMs, signal);
  if (pdf === undefined) throw new FetchError("type", `${url} is a PDF that could not be read.`);
  if (pdf.text === "") throw new FetchError("type", `${url} is a PDF of images, without text.`);
  return pdf;
}

/** Parses a document in a thread. Returns undefined if parsing fails or takes too long. */
async function parseInThread(
  file: "article-worker" | "pdf-worker",
  work: unknown,
  parseMs: number,
  signal: AbortSignal | undefined,
): Promise<Article | undefined> {
  const limit = AbortSignal.timeout(Math.max(0, parseMs));
  const parse = await runInThread(getWorkerFile(file, import.meta.url), work, {
    places: parsers,
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
  });
  signal?.throwIfAborted();
  return parse.kind === "done" && isArticle(parse.value) ? parse.value : undefined;
}

function isArticle(made: unknown): made is Article {
  return typeof made === "object" && made !== null && "text" in made && typeof made.text === "string";
}

function decode({ bytes, contentType, url }: FetchedResource, type: string): string {
  const textual =
    /^(text\/.+|application\/(.+\+)?(json|xml)|application\/(javascript|x-ndjson|yaml|xhtml\+xml))$/;
  const start = bytes.subarray(0, 1_024);
  if (type === "" ? start.includes(0) : !textual.test(type)) {
    throw new FetchError("type", `${url} is not a page of text but ${type === "" ? "binary data" : type}.`);
  }
  const headerCharset = /charset=["']?([\w.:-]+)/i.exec(contentType)?.[1];
  const declared = /<(?:meta[^>]{0,200}charset|\?xml[^>]{0,200}encoding)=["']?([\w.:-]+)/i;
  const pageCharset = declared.exec(Buffer.from(start).toString("latin1"))?.[1];
  try {
    return new TextDecoder(headerCharset ?? pageCharset ?? "utf-8").decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** Returns a page's article as Markdown, or all of its text if no article is found in time. */
async function toArticle(
  html: string,
  url: string,
  parseMs: number,
  signal: AbortSignal | undefined,
): Promise<Content> {
  const page = html.slice(0, MAX_HTML_CHARS);
  const title = /<title[^>]{0,200}>([^<]{1,500})/i.exec(page)?.[1];
  const plain = { text: stripMarkup(page), ...(title === undefined ? {} : { title: decodeEntities(title) }) };
  const cut = html.length > MAX_HTML_CHARS;
  if (countTags(page) > MAX_TAGS) return { ...plain, cut };
  const article = await parseInThread("article-worker", { html: page, url }, parseMs, signal);
  // If the article is much shorter than the page, it probably consists of links and menus.
  if (article === undefined || article.text.trim().length < plain.text.length / 50) return { ...plain, cut };
  return { title: plain.title ?? "", ...article, cut };
}

function countTags(html: string): number {
  let tags = 0;
  for (let at = html.indexOf("<"); at >= 0; at = html.indexOf("<", at + 1)) tags += 1;
  return tags;
}

/** Removes the markup of a page in one pass. */
function stripMarkup(html: string): string {
  let out = "";
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open < 0) return decodeEntities(out + html.slice(at));
    out += html.slice(at, open);
    const close = findTagEnd(html, open);
    if (close < 0) return decodeEntities(out);
    out += /^<\/?(p|div|br|li|tr|h[1-6]|section|article)\b/i.test(html.slice(open, open + 10)) ? "\n" : " ";
    at = close + 1;
  }
  return decodeEntities(out);
}

/** Returns the end index of a tag, a comment or a hidden element, or -1 if it does not end. */
function findTagEnd(html: string, from: number): number {
  if (html.startsWith("<!--", from)) {
    const end = html.indexOf("-->", from + 2);
    return end < 0 ? -1 : end + 2;
  }
  const hidden = /^<(script|style|noscript|template|svg|title)\b/i.exec(html.slice(from, from + 12))?.[1];
  const end = hidden === undefined ? from : findClosingTag(html, hidden, from);
  return end < 0 ? -1 : html.indexOf(">", end);
}

function findClosingTag(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}`, "gi");
  end.lastIndex = from;
  return end.exec(html)?.index ?? -1;
}

const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED_ENTITIES[String(name).toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "";
  });
}

/** Removes characters that hide or reorder text, and repeated blank lines. */
export function cleanText(text: string): string {
  return (
    text
      .replace(/\r\n?/g, "\n")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: removes control characters
      .replace(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, "")
      .replace(/(?![\u200C\u200D])(?:\p{Cf}|\u034F|[\u115F\u1160\u2800\u3164\uFFA0])/gu, "")
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim()
  );
}
