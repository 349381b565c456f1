import { type AssistantMessage, STOP_REASONS, type StopReason } from "@signalbox/agent-core";

/** Extracts the text that people see from what a model writes, which may contain directives or silent tokens. */
export interface TextFilter {
  /** Returns the raw text of a turn. */
  getText(message: AssistantMessage): string;
  /** Returns the visible part of a raw text. */
  getVisible(text: string): string;
  /**
   * Filters a text while it is written. `push` returns what is certainly visible; `end` returns the rest, given the
   * visible part of the whole text.
   */
  stream(): { push(delta: string): string; end(visible: string): string };
}

/** Shows all text. */
export const NO_FILTER: TextFilter = {
  getText: ({ content }) =>
    content
      .flatMap((block) => (block.type === "text" || block.type === "refusal" ? [block.text] : []))
      .join(""),
  getVisible: (text) => text,
  stream() {
    let out = "";
    return {
      push(delta) {
        out += delta;
        return delta;
      },
      end: (visible) => (visible.startsWith(out) ? visible.slice(out.length) : ""),
    };
  },
};

/**
 * Returns the visible text of a turn. A broken turn may end with half a silent token or directive. Of such a turn
 * people see what was certain while it was written.
 */
export function getVisibleText(text: string, stopReason: StopReason, filter: TextFilter): string {
  const isBroken = STOP_REASONS[stopReason]?.text === "broken";
  return filter.getVisible(isBroken ? filter.stream().push(text) : text);
}
