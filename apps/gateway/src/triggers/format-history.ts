import type { AgentMessage } from "@signalbox/agent-core";

/** Formats a session's messages for an agent in another session. */
export function formatHistory(messages: readonly { readonly message: AgentMessage }[]): string {
  const lines = messages.flatMap(({ message }) => formatMessage(message));
  return lines.length === 0 ? "It has not started yet." : lines.join("\n\n");
}

function formatMessage(message: AgentMessage): string[] {
  switch (message.role) {
    case "user":
      return [`Told: ${getText(message.content)}`];
    case "assistant":
      return message.content.flatMap((block) => {
        if (block.type === "text") return [`Said: ${block.text}`];
        return block.type === "toolCall" ? [`Called ${block.name}: ${block.argsText}`] : [];
      });
    case "toolResult":
      return [`${message.toolName} gave: ${getText(message.content)}`];
    default:
      return [];
  }
}

const MAX_CHARS = 2_000;

function getText(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  const text =
    typeof content === "string"
      ? content
      : content.map((block) => block.text ?? `[${block.type}]`).join("\n");
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)} …`;
}
