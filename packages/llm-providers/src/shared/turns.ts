import type { AssistantMessage, Message, ToolResultMessage, UserMessage } from "@signalbox/agent-core";

interface ResultGroup {
  readonly role: "toolResults";
  readonly results: readonly [ToolResultMessage, ...ToolResultMessage[]];
}

export type Group = UserMessage | AssistantMessage | ResultGroup;

/** Groups consecutive tool results. */
export function groupResults(messages: readonly Message[]): Group[] {
  const groups: Group[] = [];
  for (const message of messages) {
    const last = groups.at(-1);
    if (message.role !== "toolResult") groups.push(message);
    else if (last?.role !== "toolResults") groups.push({ role: "toolResults", results: [message] });
    else groups[groups.length - 1] = { ...last, results: [...last.results, message] };
  }
  return groups;
}
