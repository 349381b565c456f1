/** The text that was not sent yet as a block. */
export interface RemainingText {
  readonly text: string;
  /** True if the text begins with the blocks. If not, the model started over and `text` begins where they differ. */
  readonly continues: boolean;
}

/** Returns the part of a text after its blocks. Whitespace at the cuts is ignored. */
export function getRemainingText(text: string, blocks: readonly string[]): RemainingText {
  let at = 0;
  for (const block of blocks) {
    const start = skipBlank(text, at);
    if (!text.startsWith(block, start)) return { text: text.slice(start), continues: false };
    at = start + block.length;
  }
  return { text: text.slice(skipBlank(text, at)), continues: true };
}

/** Returns the index after the whitespace at `at`. The indentation of a following line is kept. */
function skipBlank(text: string, at: number): number {
  const [blank = ""] = /^\s*/.exec(text.slice(at)) ?? [];
  const newline = blank.lastIndexOf("\n");
  return at + (newline < 0 ? blank.length : newline + 1);
}
