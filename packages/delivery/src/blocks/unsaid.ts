/**
 * What of a text is not said yet, after blocks of it were. An answer that was begun anew in other words is said from
 * where it differs. Blank space where it was cut does not count.
 */
export function unsaid(
  text: string,
  blocks: readonly string[],
): { readonly text: string; readonly goesOn: boolean } {
  let at = 0;
  for (const block of blocks) {
    const start = at + blankAt(text, at);
    if (!text.startsWith(block, start)) return { text: text.slice(at + blankAt(text, at)), goesOn: false };
    at = start + block.length;
  }
  return { text: text.slice(at + blankAt(text, at)), goesOn: true };
}

/** How much blank space there is up to the line that the rest begins with; that one's indentation is part of it. */
function blankAt(text: string, at: number): number {
  const [blank = ""] = /^\s*/.exec(text.slice(at)) ?? [];
  const newline = blank.lastIndexOf("\n");
  return newline < 0 ? blank.length : newline + 1;
}
