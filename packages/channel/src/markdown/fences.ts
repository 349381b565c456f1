/** What a line is to the code blocks of a text: one that opens or closes a block, one inside of one, or neither. */
export type FencedLine = "fence" | "code" | "text";

/** Follows fenced code blocks line by line. */
export interface FenceTracker {
  /** Reads the next line, without its line break. */
  read(line: string): FencedLine;
  /** A block is open after the lines read so far. */
  readonly isOpen: boolean;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/s;

/** For text that is still being written, of which a tree says nothing that will last. */
export function createFenceTracker(): FenceTracker {
  let open: string | undefined;
  return {
    get isOpen() {
      return open !== undefined;
    },
    read(line) {
      const [, marks, after = ""] = FENCE.exec(line) ?? [];
      if (open === undefined) {
        if (marks === undefined || (marks.startsWith("`") && after.includes("`"))) return "text";
        open = marks;
        return "fence";
      }
      if (marks?.startsWith(open) !== true || after.trim() !== "") return "code";
      open = undefined;
      return "fence";
    },
  };
}
