import type { AssistantMessage, ToolCallBlock } from "@signalbox/agent-core";
import type { ReadTurn } from "./check.ts";

/** What the whole of an answer says, to hold its cut and disturbed forms against. */
export interface Whole {
  readonly failed: boolean;
  /** Why it stopped, and everything it says. */
  readonly said: string;
  /** Its calls that have arguments. */
  readonly calls: ReadonlySet<string>;
}

const keyOf = (call: ToolCallBlock): string => `${call.name} ${call.argsText}`;

/** Ids are left out: a vendor that gives none has new ones made up each time. */
function saidBy({ stopReason, rawStopReason, content }: AssistantMessage): string {
  const blocks = content.map((block) => (block.type === "toolCall" ? { ...block, id: "" } : block));
  return JSON.stringify([stopReason, rawStopReason, blocks]);
}

export function wholeOf({ message, error }: ReadTurn): Whole {
  const calls = message.content.filter((block) => block.type === "toolCall");
  return {
    failed: error !== undefined,
    said: saidBy(message),
    calls: new Set(calls.filter((call) => call.args !== undefined).map(keyOf)),
  };
}

/**
 * What is wrong with what became of a cut answer, if anything: it passes for whole and says something else (`less`), or
 * has a call ready that is not one of the whole answer's, or asks for its tools although it failed (`partialCall`).
 */
export function wrongWithCut({ message, error }: ReadTurn, whole: Whole): "less" | "partialCall" | undefined {
  if (error === undefined) {
    // A server may report a failure after the model's last word; a cut before that finishes.
    return whole.failed || saidBy(message) === whole.said ? undefined : "less";
  }
  const isMadeUp = message.content.some(
    (block) => block.type === "toolCall" && block.args !== undefined && !whole.calls.has(keyOf(block)),
  );
  return isMadeUp || message.stopReason === "tool_use" ? "partialCall" : undefined;
}
