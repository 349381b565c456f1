/** The role of a line: it opens or closes a fenced code block, is inside one, or is outside. */
type FencedLine = "fence" | "code" | "text";

/** Tracks fenced code blocks line by line. */
export interface FenceTracker {
  /** Reads the next line, which must not include its line break. */
  read(line: string): FencedLine;
  /** True if a block is open after the lines read so far. */
  readonly isOpen: boolean;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/s;

/** Creates a tracker for a text that is still being written, whose syntax tree changes with every line. */
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
