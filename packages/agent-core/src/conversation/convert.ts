import type { AgentMessage, Message, ShellRunMessage } from "../messages.ts";

/** What precedes a summary, so that the model does not take it for something the user said. */
const COMPACTED = "The earlier part of this conversation was replaced by this summary:\n\n";
const BRANCHED = "This conversation was also continued elsewhere. What happened there, in short:\n\n";

function shellText(run: ShellRunMessage): string {
  const exit = run.exitCode === undefined ? "ended by a signal" : `exit code ${run.exitCode}`;
  return `The user ran a command (${exit}):\n\`\`\`\n$ ${run.command}\n${run.output}\n\`\`\``;
}

/**
 * What each message of a conversation is to a vendor: user, assistant and tool result as they are; shell runs, branch
 * summaries, compaction summaries and custom messages as user messages.
 */
export function convertToLlm(message: AgentMessage): Message {
  const { role, timestamp } = message;
  switch (role) {
    case "user":
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
