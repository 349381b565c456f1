/** A heading, or the mark of an item with nothing behind it. */
const BARE_LINE = /^(#{1,6}(\s.*)?|[-*+](\s+\[[ xX]?\])?)$/;

/** What a workspace file says to its agent. HTML comments, and lines of their own with them, are for people. */
export function withoutComments(text: string): string {
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

/** Whether a workspace file says more than headings, comments and items that are not filled in. */
export function saysSomething(text: string): boolean {
  return withoutComments(text)
    .replace(/<!--[\s\S]*/, "")
    .split("\n")
    .some((line) => line.trim() !== "" && !BARE_LINE.test(line.trim()));
}
