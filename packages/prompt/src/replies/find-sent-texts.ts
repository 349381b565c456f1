import type { AgentMessage, JsonObject } from "@signalbox/agent-core";
import { getMediaMark } from "./compose.ts";

/**
 * Returns the texts that the message tool has sent to its own conversation, and attachments as `getMediaMark` returns
 * them. A reply does not repeat them.
 */
export function findSentTexts(messages: readonly AgentMessage[]): string[] {
  return findActionsHere(messages).flatMap(({ action, message: text, media }) => {
    if (action !== "send") return [];
    const marks = Array.isArray(media) ? media.map((source) => getMediaMark(String(source))) : [];
    return [...(typeof text === "string" ? [text] : []), ...marks];
  });
}

/**
 * Returns true if the message tool has performed any action in its own conversation, for example a reaction to a
 * message.
 */
export function hasActedHere(messages: readonly AgentMessage[]): boolean {
  return findActionsHere(messages).length > 0;
}

/** Returns the arguments of successful message tool calls that do not specify another conversation. */
function findActionsHere(messages: readonly AgentMessage[]): JsonObject[] {
  const done = new Set(
    messages.flatMap((message) =>
      message.role === "toolResult" && !message.isError ? [message.toolCallId] : [],
    ),
  );
  return messages.flatMap((message) => {
    if (message.role !== "assistant") return [];
    return message.content.flatMap((block) => {
      if (block.type !== "toolCall" || block.name !== "message" || !done.has(block.id)) return [];
      return block.args === undefined || block.args.target !== undefined ? [] : [block.args];
    });
  });
}
