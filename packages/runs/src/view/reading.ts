import type { AssistantMessage } from "@signalbox/agent-core";

/** How a host reads what its model writes: a turn may hold directives, or words that nobody is to see. */
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
