import { FetchError } from "./errors.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";
import { linksIn } from "./links.ts";
import { pageText } from "./page.ts";

export interface LinkedPagesOptions {
  readonly fetch: GuardedFetch;
  readonly signal: AbortSignal;
  /** The first links of the text, and no more. */
  readonly max: number;
  /** Of one page's text. */
  readonly maxChars: number;
  /** Told why a page was not read. */
  readonly onFailure?: (error: unknown) => void;
}

/** A page behind a link, or why it was not read. */
export type LinkedPage =
  | { readonly place: string; readonly name?: string; readonly text: string; readonly cut: boolean }
  | { readonly place: string; readonly note: string };

const PAGE_BYTES = 5_000_000;

/** Reads the pages that a text links to, in the order of the links. Never rejects. */
export function readLinkedPages(text: string, options: LinkedPagesOptions): Promise<LinkedPage[]> {
  return Promise.all(linksIn(text, options.max).map((link) => readPage(link, options)));
}

async function readPage(link: string, options: LinkedPagesOptions): Promise<LinkedPage> {
  const { fetch, signal, maxChars } = options;
  try {
    const resource = await fetch(link, { signal, maxBytes: PAGE_BYTES });
    const page = await pageText(resource, { maxChars });
    const name = page.title === undefined ? {} : { name: page.title };
    return { place: page.url, ...name, text: page.text, cut: page.cut };
  } catch (error) {
    if (!signal.aborted) options.onFailure?.(error);
    return { place: link, note: error instanceof FetchError ? error.message : "It could not be read." };
  }
}
