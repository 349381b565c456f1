import type { ToolCallBlock } from "../content.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";
import { toolCalls } from "./repair.ts";

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
  let answered: Set<string> | undefined;
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i];
    if (message?.role === "toolResult") {
      answered ??= new Set();
      answered.add(message.toolCallId);
    } else if (message?.role === "assistant") {
      const all = toolCalls(message);
      if (all.length === 0) return undefined;
      const seen = new Set(answered);
      const calls = all.filter((call) => !seen.has(call.id) && seen.add(call.id));
      return calls.length === 0 ? undefined : { message, calls };
    } else {
      return undefined;
    }
  }
  return undefined;
}
