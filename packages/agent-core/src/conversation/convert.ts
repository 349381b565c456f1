import type { AgentMessage, Message, ShellRunMessage, UserMessage } from "../messages.ts";

/** What precedes a summary, so that the model does not take it for something the user said. */
const COMPACTED = "The earlier part of this conversation was replaced by this summary:\n\n";
const BRANCHED = "This conversation was also continued elsewhere. What happened there, in short:\n\n";

function shellText({ command, output, exitCode }: ShellRunMessage): string {
  const exit = exitCode === undefined ? "ended by a signal" : `exit code ${exitCode}`;
  return `The user ran a command (${exit}):\n\`\`\`\n$ ${command}\n${output}\n\`\`\``;
}

/** Kept, so that a message is the same object in each request and adapters find what they made of it. */
const inContext = new WeakMap<UserMessage, UserMessage>();

function withContext(message: UserMessage): UserMessage {
  const { context, content, timestamp } = message;
  if (context === undefined) return message;
  const made = inContext.get(message) ?? { role: "user", content: after(context, content), timestamp };
  inContext.set(message, made);
  return made;
}

function after(context: string, content: UserMessage["content"]): UserMessage["content"] {
  return typeof content === "string"
    ? `${context}\n\n${content}`
    : [{ type: "text", text: context }, ...content];
}

/**
 * What each message of a conversation is to a vendor: user, assistant and tool result as they are, a context before the
 * words it belongs to; shell runs, summaries and custom messages as user messages.
 */
export function convertToLlm(message: AgentMessage): Message {
  const { role, timestamp } = message;
  switch (role) {
    case "user":
      return withContext(message);
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
}
