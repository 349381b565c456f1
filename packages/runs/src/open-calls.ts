import type { PendingCall, PendingDecision, ToolCallBlock, ToolResult } from "@signalbox/agent-core";
import type { JournalledRun } from "./store.ts";

/**
 * What is done about a call that an earlier process left without a result. One with outside effects that began is never
 * made again blindly.
 *
 * @param started the calls that had begun, see {@link startedCalls}
 * @param isRepeatable whether a call made again is the same one, for instance since what it sends has a key of the call
 */
export function decideOpenCall(
  { call, tool }: PendingCall,
  started: ReadonlySet<string>,
  isRepeatable: (call: ToolCallBlock) => boolean = () => false,
): PendingDecision {
  return started.has(call.id) && !isRepeatable(call) && (tool === undefined || tool.effects === "external")
    ? { action: "result", result: OUTCOME_UNKNOWN }
    : { action: "run" };
}

/** Calls that began and have no result. */
export function startedCalls({ calls }: Pick<JournalledRun, "calls">): ReadonlySet<string> {
  return new Set(calls.flatMap(({ callId, state }) => (state === "started" ? [callId] : [])));
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
