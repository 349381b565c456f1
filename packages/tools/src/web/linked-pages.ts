import { FetchError } from "./errors.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";
import { findLinks } from "./links.ts";
import { extractPageText } from "./page.ts";

export interface LinkedPagesOptions {
  readonly fetch: GuardedFetch;
  readonly signal: AbortSignal;
  /** Maximum number of links to read, counted from the start of the text. */
  readonly max: number;
  /** Maximum length of each page's text, in UTF-16 units. */
  readonly maxChars: number;
  /** Called if a page could not be read. */
  readonly onFailure?: (error: unknown) => void;
}

/** The page behind a link, or a note that explains why it could not be read. */
export type LinkedPage =
  | { readonly place: string; readonly name?: string; readonly text: string; readonly cut: boolean }
  | { readonly place: string; readonly note: string };

const MAX_PAGE_BYTES = 5_000_000;

/** Reads the pages that a text links to, in the order of the links. Never rejects. */
export function readLinkedPages(text: string, options: LinkedPagesOptions): Promise<LinkedPage[]> {
  return Promise.all(findLinks(text, options.max).map((link) => readPage(link, options)));
}

async function readPage(link: string, options: LinkedPagesOptions): Promise<LinkedPage> {
  const { fetch, signal, maxChars } = options;
  try {
    const resource = await fetch(link, { signal, maxBytes: MAX_PAGE_BYTES });
    const page = await extractPageText(resource, { maxChars, signal });
    return { place: page.url, name: page.title, text: page.text, cut: page.cut };
  } catch (error) {
    if (!signal.aborted) options.onFailure?.(error);
    return { place: link, note: error instanceof FetchError ? error.message : "It could not be read." };
  }
}
