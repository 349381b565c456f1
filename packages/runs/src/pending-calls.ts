import type { PendingCall, PendingDecision, ToolCallBlock, ToolResult } from "@signalbox/agent-core";
import type { JournalCall } from "@signalbox/store/types";

/**
 * Decides what to do with a call that an earlier process left without a result. A call with external effects that was
 * started is never repeated blindly.
 *
 * @param calls the calls in the run's journal
 * @param isRepeatable whether repeating a call has no additional effect, for example because the call sends an
 * idempotency key
 * @returns `undefined` for a call of another run, which has ended. The loop then reports the unknown outcome to the
 * model.
 */
export function decidePendingCall(
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
