import { hash } from "node:crypto";

/** Matches a URL in running text. The URL ends at quotes, brackets, and Chinese and other full-width punctuation. */
const LINK = /\bhttps?:\/\/[^\s<>"'`{}|\\^，。；：！？、（）《》【】「」『』“”‘’\p{Cc}\p{Cf}]+/giu;
const MAX_LINK_CHARS = 2_048;
/**
 * Maximum number of candidates to examine per requested link. This bounds the processing time for texts with many
 * duplicates.
 */
const MAX_CANDIDATES_PER_LINK = 10;

/** Returns the distinct URLs in a text, in order, without trailing punctuation. */
export function findLinks(text: string, max = 100): string[] {
  const links = new Map<string, string>();
  let examined = 0;
  for (const [match] of text.matchAll(LINK)) {
    if (examined++ >= max * MAX_CANDIDATES_PER_LINK) break;
    if (match.length > MAX_LINK_CHARS) continue;
    const link = trimPunctuation(match);
    const url = URL.parse(link);
    if (url === null) continue;
    const key = normalizeAddress(url.href);
    if (!links.has(key)) links.set(key, link);
    if (links.size >= max) break;
  }
  return [...links.values()];
}

/** Normalizes a URL and removes its fragment. Returns other strings unchanged. */
export function normalizeAddress(address: string): string {
  const url = URL.parse(address);
  if (url === null) return address;
  url.hash = "";
  return url.href;
}

/** Returns a short key for a page. Equivalent URLs have the same key. */
export function getPageKey(address: string): string {
  return hash("sha256", normalizeAddress(address), "base64url");
}

const OPENERS: Readonly<Record<string, string>> = { ")": "(", "]": "[" };

/**
 * Removes trailing punctuation. A closing bracket belongs to the link only if the link contains the opening bracket.
 */
function trimPunctuation(match: string): string {
  const brackets: Record<string, number> = {};
  for (const char of match) if (/[()[\]]/.test(char)) brackets[char] = (brackets[char] ?? 0) + 1;
  let end = match.length;
  for (; end > 0; end--) {
    const last = match.charAt(end - 1);
    const opener = OPENERS[last];
    const isUnmatched = opener !== undefined && (brackets[last] ?? 0) > (brackets[opener] ?? 0);
    if (!isUnmatched && !/[.,;:!?*_~]/.test(last)) break;
    if (isUnmatched) brackets[last] = (brackets[last] ?? 0) - 1;
  }
  return match.slice(0, end);
}
