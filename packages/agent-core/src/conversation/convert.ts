import type { AgentMessage, Message, ShellRunMessage, UserMessage } from "../messages.ts";

/** Precedes a summary, so that the model does not attribute it to the user. */
const COMPACTED = "The earlier part of this conversation was replaced by this summary:\n\n";
const BRANCHED = "This conversation was also continued elsewhere. What happened there, in short:\n\n";

function shellText({ command, output, exitCode }: ShellRunMessage): string {
  const exit = exitCode === undefined ? "ended by a signal" : `exit code ${exitCode}`;
  return `The user ran a command (${exit}):\n\`\`\`\n$ ${command}\n${output}\n\`\`\``;
}

/**
 * Converts each message only once, so that requests contain identical objects and adapters can cache data derived from
 * them.
 */
export function memoizeByMessage<T>(convert: (message: AgentMessage) => T): (message: AgentMessage) => T {
  const converted = new WeakMap<AgentMessage, { readonly made: T }>();
  return (message) => {
    const kept = converted.get(message) ?? { made: convert(message) };
    converted.set(message, kept);
    return kept.made;
  };
}

/**
 * Converts a message for vendors. User messages (with their context), assistant turns and tool results keep their
 * roles. Shell runs, summaries and custom messages become user messages.
 */
export function convertToLlm(message: AgentMessage): Message {
  if (message.role === "assistant" || message.role === "toolResult") return message;
  return message.role === "user" && message.context === undefined ? message : toUser(message);
}

const toUser = memoizeByMessage((message): Message => {
  const { role, timestamp } = message;
  switch (role) {
    case "user":
      return { role, content: withContext(message), timestamp };
    case "assistant":
    case "toolResult":
      return message;
    case "shellRun":
      return { role: "user", content: shellText(message), timestamp };
    case "branchSummary":
      return { role: "user", content: `${BRANCHED}${message.summary}`, timestamp };
    case "compactionSummary":
      return { role: "user", content: `${COMPACTED}${message.summary}`, timestamp };
    case "custom":
      return { role: "user", content: message.content, timestamp };
  }
});

function withContext({ context = "", content }: UserMessage): UserMessage["content"] {
  return typeof content === "string"
    ? `${context}\n\n${content}`
    : [{ type: "text", text: context }, ...content];
}
