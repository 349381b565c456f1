import type { ToolCallBlock } from "../content.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";

/** The calls of a turn, in order. */
export function toolCalls(message: AgentMessage): readonly ToolCallBlock[] {
  return message.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [];
}

/** The same turn with each call under the id it is given, in order; the same object where all keep theirs. */
export function withCallIds(
  message: AssistantMessage,
  idOf: (call: ToolCallBlock) => string,
): AssistantMessage {
  const content = message.content.map((block) => {
    if (block.type !== "toolCall") return block;
    const id = idOf(block);
    return id === block.id ? block : { ...block, id };
  });
  return content.every((block, at) => block === message.content[at]) ? message : { ...message, content };
}

/** The last model turn and its calls that have no result yet. */
export interface Unanswered {
  readonly message: AssistantMessage;
  readonly calls: readonly ToolCallBlock[];
}

/**
 * The calls a history ends in without results: those of the last model turn, when only results of its other calls
 * follow it. Of two of one id only the first, as no result could be told from the other's. `undefined` when there are
 * none.
 */
export function unansweredCalls(messages: readonly AgentMessage[]): Unanswered | undefined {
  const at = messages.findLastIndex(({ role }) => role !== "toolResult");
  const message = messages[at];
  if (message?.role !== "assistant") return undefined;
  const seen = new Set(
    messages.slice(at + 1).map((result) => result.role === "toolResult" && result.toolCallId),
  );
  const calls = toolCalls(message).filter(({ id }) => !seen.has(id) && seen.add(id));
  return calls.length === 0 ? undefined : { message, calls };
}
