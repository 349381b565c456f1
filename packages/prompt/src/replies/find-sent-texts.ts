import type { AgentMessage } from "@signalbox/agent-core";
import { getMediaMark } from "./compose.ts";

/**
 * Returns what the message tool has sent to its own conversation: texts, and attachments as `getMediaMark` returns
 * them. A reply does not repeat them.
 */
export function findSentTexts(messages: readonly AgentMessage[]): string[] {
  const done = new Set(
    messages.flatMap((message) =>
      message.role === "toolResult" && !message.isError ? [message.toolCallId] : [],
    ),
  );
  return messages.flatMap((message) => {
    if (message.role !== "assistant") return [];
    return message.content.flatMap((block) => {
      if (block.type !== "toolCall" || block.name !== "message" || !done.has(block.id)) return [];
      const { action, target, message: text, media } = block.args ?? {};
      if (action !== "send" || target !== undefined) return [];
      const marks = Array.isArray(media) ? media.map((source) => getMediaMark(String(source))) : [];
      return [...(typeof text === "string" ? [text] : []), ...marks];
    });
  });
}
