import type { Block, ToolCallBlock } from "../content.ts";
import type { JsonObject } from "../json.ts";
import type { AssistantMessage, UserMessage } from "../messages.ts";
import type { Model } from "../model.ts";

/** The model of scripted turns. Use another one for the agent under test if the window size matters. */
export const SCRIPTED_MODEL: Model = {
  id: "scripted-1",
  provider: "scripted",
  api: "scripted",
  contextWindow: 200_000,
  maxOutputTokens: 8_192,
  input: ["text", "image"],
  thinking: [],
  tools: "native",
};

export function userMessage(content: string, timestamp = 1): UserMessage {
  return { role: "user", content, timestamp };
}

/**
 * Creates a model turn from a text or from blocks. It ends with `tool_use` if it contains calls, otherwise with
 * `end_turn`.
 */
export function assistantMessage(
  content: string | readonly Block[],
  extra: Partial<AssistantMessage> = {},
): AssistantMessage {
  const blocks: readonly Block[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return {
    role: "assistant",
    content: blocks,
    api: SCRIPTED_MODEL.api,
    provider: SCRIPTED_MODEL.provider,
    model: SCRIPTED_MODEL.id,
    stopReason: blocks.some((block) => block.type === "toolCall") ? "tool_use" : "end_turn",
    timestamp: 1,
    ...extra,
  };
}

/** Creates a call like one from a model. */
export function toolCall(id: string, name: string, args: JsonObject | undefined = {}): ToolCallBlock {
  return { type: "toolCall", id, name, args, argsText: JSON.stringify(args) };
}
