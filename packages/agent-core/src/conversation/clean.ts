import { type Block, withContent } from "../content.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";
import { STOP_REASONS } from "../stop-reasons.ts";

/** Placeholder for vendors that require text. */
const NO_TEXT = "(no text)";

/** Vendors reject text without a visible character unless the block has native data. */
function isBlank(block: Block): boolean {
  return block.type === "text" && block.native === undefined && block.text.trim() === "";
}

/**
 * Whitespace between two texts, for instance between sentences with citations, is part of the content, and vendors
 * accept it.
 */
function isSpaceBetween(content: readonly Block[], at: number): boolean {
  const block = content[at];
  if (block?.type !== "text" || block.text === "") return false;
  const isVisible = (other: Block): boolean => other.type === "text" && other.text.trim() !== "";
  return content.findIndex(isVisible) < at && at < content.findLastIndex(isVisible);
}

/** Cleans a model turn for replay. Returns `undefined` if nothing remains, and the same object if nothing changes. */
export function cleanAssistant(message: AssistantMessage): AssistantMessage | undefined {
  // The thinking of a broken turn may be incomplete.
  const broken = STOP_REASONS[message.stopReason]?.text === "broken";
  const { content } = message;
  const rest = content.filter((block, at) => {
    if (isBlank(block)) return isSpaceBetween(content, at);
    return !(broken && block.type === "thinking" && block.native === undefined);
  });
  if (rest.every(({ type }) => type === "thinking")) return undefined;
  return withContent(message, rest);
}

/** Cleans a user message. The result is never empty. Returns the same object if nothing changes. */
export function cleanInput(message: AgentMessage): AgentMessage {
  if (message.role !== "user" && message.role !== "custom") return message;
  const { content } = message;
  if (typeof content === "string") return content.trim() === "" ? { ...message, content: NO_TEXT } : message;
  const rest = content.filter((block) => !isBlank(block));
  return rest.length === 0 ? { ...message, content: NO_TEXT } : withContent(message, rest);
}
