import { type Block, withContent } from "../content.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";
import { STOP_REASONS } from "../stop-reasons.ts";

/** A placeholder where a vendor requires a text and there is none. */
const NO_TEXT = "(no text)";

/** Vendors refuse text without a visible character. A vendor may have attached something to it, though. */
function isBlank(block: Block): boolean {
  return block.type === "text" && block.native === undefined && block.text.trim() === "";
}

/** Space between two texts, as between sentences with citations, is part of what was said, and vendors take it. */
function isSpaceBetween(content: readonly Block[], at: number): boolean {
  const block = content[at];
  if (block?.type !== "text" || block.text === "") return false;
  const isVisible = (other: Block): boolean => other.type === "text" && other.text.trim() !== "";
  return content.findIndex(isVisible) < at && at < content.findLastIndex(isVisible);
}

/** The turn as it may be replayed; `undefined` when nothing of it can be. The same object when it is fine as it is. */
export function cleanAssistant(message: AssistantMessage): AssistantMessage | undefined {
  // Thinking that broke off may be incomplete.
  const broken = STOP_REASONS[message.stopReason]?.text === "broken";
  const { content } = message;
  const rest = content.filter((block, at) => {
    if (isBlank(block)) return isSpaceBetween(content, at);
    return !(broken && block.type === "thinking" && block.native === undefined);
  });
  if (rest.every(({ type }) => type === "thinking")) return undefined;
  return withContent(message, rest);
}

/** A user-side message with something in it. The same object when it is fine as it is. */
export function cleanInput(message: AgentMessage): AgentMessage {
  if (message.role !== "user" && message.role !== "custom") return message;
  const { content } = message;
  if (typeof content === "string") return content.trim() === "" ? { ...message, content: NO_TEXT } : message;
  const rest = content.filter((block) => !isBlank(block));
  return rest.length === 0 ? { ...message, content: NO_TEXT } : withContent(message, rest);
}
