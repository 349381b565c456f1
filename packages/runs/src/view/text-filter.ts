import { type AssistantMessage, STOP_REASONS, type StopReason } from "@signalbox/agent-core";

/** Extracts the text for people from a model's output, which may contain directives or silent tokens. */
export interface TextFilter {
  /** Returns the raw text of a turn. */
  getText(message: AssistantMessage): string;
  /** Returns the visible portion of a raw text. */
  getVisible(text: string): string;
  /**
   * Filters a text while it is being written. `push` returns text that is certainly visible. `end` returns the rest,
   * given the visible portion of the whole text.
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
 * Returns the visible text of a turn. An interrupted turn may end with an incomplete silent token or directive, so
 * people only see the text that was certain while it was being written.
 */
export function getVisibleText(text: string, stopReason: StopReason, filter: TextFilter): string {
  const isBroken = STOP_REASONS[stopReason]?.text === "broken";
  return filter.getVisible(isBroken ? filter.stream().push(text) : text);
}
