/** The text that has not been sent as a block yet. */
export interface RemainingText {
  readonly text: string;
  /** True if the text begins with the blocks. Otherwise the model started over, and `text` begins where they differ. */
  readonly continues: boolean;
}

/** Returns the text after its blocks. Ignores whitespace at the cuts. */
export function getRemainingText(text: string, blocks: readonly string[]): RemainingText {
  let at = 0;
  for (const block of blocks) {
    const start = skipBlank(text, at);
    if (!text.startsWith(block, start)) return { text: text.slice(start), continues: false };
    at = start + block.length;
  }
  return { text: text.slice(skipBlank(text, at)), continues: true };
}

/** Returns the index after the whitespace at `at`. Keeps the indentation of a following line. */
function skipBlank(text: string, at: number): number {
  const [blank = ""] = /^\s*/.exec(text.slice(at)) ?? [];
  const newline = blank.lastIndexOf("\n");
  return at + (newline < 0 ? blank.length : newline + 1);
}
