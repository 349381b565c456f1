import type { Block, InputBlock } from "../content.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";
import { STOP_REASONS } from "../stop-reasons.ts";

/** Stands where a vendor asks for a text and there is none. */
const NO_TEXT = "(no text)";

/** Vendors refuse text without a visible character. A vendor may have attached something to it, though. */
function isBlank(block: Block): boolean {
  return block.type === "text" && block.native === undefined && block.text.trim() === "";
}

/** Space between two texts, as between sentences with citations, is part of what was said, and vendors take it. */
function isSpaceBetween(content: readonly Block[], at: number): boolean {
  const block = content[at];
  if (block?.type !== "text" || block.text === "") return false;
  return content.findIndex(isVisible) < at && at < content.findLastIndex(isVisible);
}

function isVisible(block: Block): boolean {
  return block.type === "text" && block.text.trim() !== "";
}

/** The turn as it may be replayed; `undefined` when nothing of it can be. The same object when it is fine as it is. */
export function cleanAssistant(message: AssistantMessage): AssistantMessage | undefined {
  // Thinking that broke off may be incomplete.
  const broken = STOP_REASONS[message.stopReason]?.text === "broken";
  const { content } = message;
  const stays = (block: Block, at: number): boolean =>
    isBlank(block)
      ? isSpaceBetween(content, at)
      : !(broken && block.type === "thinking" && block.native === undefined);
  if (content.every(stays) && content.some(({ type }) => type !== "thinking")) return message;
  const rest = content.filter(stays);
  return rest.some(({ type }) => type !== "thinking") ? { ...message, content: rest } : undefined;
}

function cleanContent(content: string | readonly InputBlock[]): string | readonly InputBlock[] {
  if (typeof content === "string") return content.trim() === "" ? NO_TEXT : content;
  if (!content.some(isBlank) && content.length > 0) return content;
  const rest = content.filter((block) => !isBlank(block));
  return rest.length === 0 ? NO_TEXT : rest;
}

/** A user-side message with something in it. The same object when it is fine as it is. */
export function cleanInput(message: AgentMessage): AgentMessage {
  if (message.role !== "user" && message.role !== "custom") return message;
  const content = cleanContent(message.content);
  return content === message.content ? message : { ...message, content };
}
