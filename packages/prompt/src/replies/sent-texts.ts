import type { AgentMessage } from "@signalbox/agent-core";
import { mediaMark } from "./compose.ts";

/**
 * What the message tool has sent to the conversation itself in the turns on record: texts, and attachments as
 * `mediaMark` names them. A reply that says the same is not said twice.
 */
export function sentTexts(messages: readonly AgentMessage[]): string[] {
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
      const marks = Array.isArray(media) ? media.map((source) => mediaMark(String(source))) : [];
      return [...(typeof text === "string" ? [text] : []), ...marks];
    });
  });
}
