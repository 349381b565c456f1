import { type AssistantMessage, STOP_REASONS, type StopReason } from "@signalbox/agent-core";

/** How a host reads what its model writes: a turn may hold directives, or words that no one should see. */
export interface Reading {
  /** The words of a turn. */
  said(message: AssistantMessage): string;
  /** What people see of such words. */
  visible(said: string): string;
  /** The same while the model still writes: what is certain by now, and at the end the rest of what they come to. */
  stream(): { push(delta: string): string; end(visible: string): string };
}

/** People see every word. */
export const PLAIN: Reading = {
  said: ({ content }) =>
    content
      .flatMap((block) => (block.type === "text" || block.type === "refusal" ? [block.text] : []))
      .join(""),
  visible: (said) => said,
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
 * What people see of the words of a turn. One that broke off may end with half a silent token or directive, which is
 * nothing by itself: of it they see what was certain by then, as they did while it was written.
 */
export function visibleIn(said: string, stopReason: StopReason, reading: Reading): string {
  const isBroken = STOP_REASONS[stopReason]?.text === "broken";
  return reading.visible(isBroken ? reading.stream().push(said) : said);
}
