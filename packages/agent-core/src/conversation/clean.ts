import type { Block, InputBlock } from "../content.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";
import { STOP_REASONS } from "../stop-reasons.ts";

/** Stands where a vendor asks for a text and there is none. */
const NO_TEXT = "(no text)";

/** Vendors refuse text without a visible character. A vendor may have attached something to it, though. */
function isBlank(block: Block): boolean {
  return block.type === "text" && block.native === undefined && block.text.trim() === "";
}

/** The turn as it may be replayed; `undefined` when nothing of it can be. The same object when it is fine as it is. */
export function cleanAssistant(message: AssistantMessage): AssistantMessage | undefined {
  // Thinking that broke off may be incomplete.
  const broken = STOP_REASONS[message.stopReason]?.text === "broken";
  const goes = (block: Block): boolean =>
    isBlank(block) || (broken && block.type === "thinking" && block.native === undefined);
  const { content } = message;
  if (!content.some((block) => block.type !== "thinking" && !goes(block))) return undefined;
  return content.some(goes) ? { ...message, content: content.filter((block) => !goes(block)) } : message;
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
