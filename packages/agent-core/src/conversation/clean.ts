import type { Block, InputBlock } from "../content.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";

/** Stands where a vendor asks for a text and there is none. */
const NO_TEXT = "(no text)";

/** Vendors refuse text without a visible character. A vendor may have attached something to it, though. */
function isBlank(block: Block): boolean {
  return block.type === "text" && block.native === undefined && block.text.trim() === "";
}

/** Whether a turn was broken off, so that its thinking may be incomplete. */
function wasBroken(message: AssistantMessage): boolean {
  return message.stopReason === "aborted" || message.stopReason === "error";
}

/** The turn as it may be replayed; `undefined` when nothing of it can be. The same object when it is fine as it is. */
export function cleanAssistant(message: AssistantMessage): AssistantMessage | undefined {
  const broken = wasBroken(message);
  let says = false;
  let drops = false;
  const blocks = message.content;
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i];
    if (block === undefined) continue;
    if (isBlank(block) || (broken && block.type === "thinking" && block.native === undefined)) drops = true;
    else if (block.type !== "thinking") says = true;
  }
  if (!says) return undefined;
  if (!drops) return message;
  const content = message.content.filter(
    (block) => !isBlank(block) && !(broken && block.type === "thinking" && block.native === undefined),
  );
  return { ...message, content };
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
