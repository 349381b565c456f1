import { hash } from "node:crypto";

/** A link in running text ends at quotes, brackets, and Chinese and other full-width punctuation. */
const LINK = /\bhttps?:\/\/[^\s<>"'`{}|\\^，。；：！？、（）《》【】「」『』“”‘’\p{Cc}\p{Cf}]+/giu;
const LONGEST = 2_048;
/** What looks like a link, for each one that is wanted. */
const MOST_LOOKS = 10;

/** The web addresses in a text, in order and each once, without the punctuation that follows them. */
export function linksIn(text: string, max = 100): string[] {
  const links = new Map<string, string>();
  let looked = 0;
  for (const [match] of text.matchAll(LINK)) {
    // Links that repeat, or that are none, are not looked at without end either.
    if (looked++ >= max * MOST_LOOKS) break;
    if (match.length > LONGEST) continue;
    const link = trimmed(match);
    const url = URL.parse(link);
    if (url === null) continue;
    const key = samePage(url.href);
    if (!links.has(key)) links.set(key, link);
    if (links.size >= max) break;
  }
  return [...links.values()];
}

/** The same text for addresses of the same page; the text itself for what is no address. */
export function samePage(address: string): string {
  const url = URL.parse(address);
  if (url === null) return address;
  url.hash = "";
  return url.href;
}

/** A short name of a page, the same for addresses of the same one: addresses that others chose may be long. */
export function pageKey(address: string): string {
  return hash("sha256", samePage(address), "base64url");
}

const OPENERS: Readonly<Record<string, string>> = { ")": "(", "]": "[" };

/** A bracket is part of a link only where it was opened in it. */
function trimmed(match: string): string {
  const closed: Record<string, number> = {};
  for (const char of match) if (/[()[\]]/.test(char)) closed[char] = (closed[char] ?? 0) + 1;
  let end = match.length;
  for (; end > 0; end--) {
    const last = match.charAt(end - 1);
    const opener = OPENERS[last];
    const loose = opener !== undefined && (closed[last] ?? 0) > (closed[opener] ?? 0);
    if (!loose && !/[.,;:!?*_~]/.test(last)) break;
    if (loose) closed[last] = (closed[last] ?? 0) - 1;
  }
  return match.slice(0, end);
}
