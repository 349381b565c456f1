/** Ends a link in running text, unless it is inside of it: Chinese and other full-width punctuation, quotes, brackets. */
const LINK = /\bhttps?:\/\/[^\s<>"'`{}|\\^，。；：！？、（）《》【】「」『』“”‘’\p{Cc}\p{Cf}]+/giu;
const LONGEST = 2_048;

/** The web addresses in a text, in order and each once, without the punctuation that follows them. */
export function linksIn(text: string, max = 100): string[] {
  const found = new Map<string, string>();
  for (const [match] of text.matchAll(LINK)) {
    if (match.length > LONGEST) continue;
    const link = trimmed(match);
    const url = URL.parse(link);
    if (url === null) continue;
    const key = samePage(url.href);
    if (!found.has(key)) found.set(key, link);
    if (found.size >= max) break;
  }
  return [...found.values()];
}

/** The same text for addresses of the same page; the text itself for what is no address. */
export function samePage(address: string): string {
  const url = URL.parse(address);
  if (url === null) return address;
  url.hash = "";
  return url.href;
}

/** A bracket is part of a link only where it was opened in it. */
function trimmed(match: string): string {
  let link = match;
  for (;;) {
    const last = link.at(-1) ?? "";
    const opener = { ")": "(", "]": "[" }[last];
    const loose = opener !== undefined && count(link, last) > count(link, opener);
    if (!loose && !/[.,;:!?*_~]/.test(last)) return link;
    link = link.slice(0, -1);
  }
}

function count(text: string, char: string): number {
  return text.split(char).length - 1;
}
