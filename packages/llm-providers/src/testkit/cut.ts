import type { AssistantMessage, ToolCallBlock } from "@signalbox/agent-core";
import type { ReadTurn } from "./check.ts";

/** The summary of a complete answer, to compare truncated and disturbed ones with. */
export interface AnswerSummary {
  readonly failed: boolean;
  /** The stop reason and all blocks, as JSON. */
  readonly said: string;
  /** The calls with valid arguments. */
  readonly calls: ReadonlySet<string>;
}

const keyOf = (call: ToolCallBlock): string => `${call.name} ${call.argsText}`;

/** Ids are omitted, because a call without an id gets a new one each time. */
function serialize({ stopReason, rawStopReason, content }: AssistantMessage): string {
  const blocks = content.map((block) => (block.type === "toolCall" ? { ...block, id: "" } : block));
  return JSON.stringify([stopReason, rawStopReason, blocks]);
}

export function summarizeAnswer({ message, error }: ReadTurn): AnswerSummary {
  const calls = message.content.filter((block) => block.type === "toolCall");
  return {
    failed: error !== undefined,
    said: serialize(message),
    calls: new Set(calls.filter((call) => call.args !== undefined).map(keyOf)),
  };
}

/**
 * Returns the problem of a truncated answer, if any. `less`: it counts as complete but differs from the whole.
 * `partialCall`: it has a valid call that the complete answer does not have, or asks to run its tools although it
 * failed.
 */
export function findCutProblem(
  { message, error }: ReadTurn,
  whole: AnswerSummary,
): "less" | "partialCall" | undefined {
  if (error === undefined) {
    // A server may report a failure after the last word of an answer. A stream that is cut before that report is a
    // finished turn.
    return whole.failed || serialize(message) === whole.said ? undefined : "less";
  }
  const isMadeUp = message.content.some(
    (block) => block.type === "toolCall" && block.args !== undefined && !whole.calls.has(keyOf(block)),
  );
  return isMadeUp || message.stopReason === "tool_use" ? "partialCall" : undefined;
}
