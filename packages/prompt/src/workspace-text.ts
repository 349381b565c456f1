/** Matches a heading, or a list marker without content. */
const BARE_LINE = /^(#{1,6}(\s.*)?|[-*+](\s+\[[ xX]?\])?)$/;

/** Removes HTML comments, which are for people, and lines that contain nothing else. */
export function removeComments(text: string): string {
  let kept = "";
  let at = 0;
  for (;;) {
    const start = text.indexOf("<!--", at);
    const end = start < 0 ? -1 : text.indexOf("-->", start + 4);
    if (end < 0) return kept + text.slice(at);
    kept += text.slice(at, start);
    at = end + 3;
    if (kept === "" || kept.endsWith("\n")) while (text[at] === "\n") at++;
  }
}

/** Returns true if a workspace file contains more than headings, comments and empty list items. */
export function hasContent(text: string): boolean {
  return removeComments(text)
    .replace(/<!--[\s\S]*/, "")
    .split("\n")
    .some((line) => line.trim() !== "" && !BARE_LINE.test(line.trim()));
}
