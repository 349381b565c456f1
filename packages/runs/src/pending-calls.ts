import type { PendingCall, PendingDecision, ToolCallBlock, ToolResult } from "@signalbox/agent-core";
import type { JournalCall } from "@signalbox/store/types";

/**
 * What to do with a call that an earlier process left open. A call with outside effects that had begun is never
 * repeated blindly. For a call of another run, which has ended, it returns undefined, so that the loop tells the model
 * what may have happened: whoever asked for it no longer waits.
 * @param calls those of the run, as its journal has them
 * @param isRepeatable whether a repeated call is the same one, for instance because what it sends has a key of the call
 */
export function decideOpenCall(
  { call, tool }: PendingCall,
  calls: readonly Pick<JournalCall, "callId" | "state">[],
  isRepeatable: (call: ToolCallBlock) => boolean = () => false,
): PendingDecision | undefined {
  const own = calls.find(({ callId }) => callId === call.id);
  if (own === undefined) return undefined;
  const isExternal = tool === undefined || tool.effects === "external";
  return own.state === "started" && isExternal && !isRepeatable(call)
    ? { action: "result", result: OUTCOME_UNKNOWN }
    : { action: "run" };
}

const OUTCOME_UNKNOWN: ToolResult = {
  isError: true,
  content: [
    {
      type: "text",
      text: "Outcome unknown: the process was restarted while this call ran, so it may or may not have taken effect. Check before you do it again, or ask.",
    },
  ],
};
