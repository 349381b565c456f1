import type { PendingCall, PendingDecision, ToolResult } from "@signalbox/agent-core";

/**
 * What is done about a call that an earlier process left without a result. One with outside effects that began is never
 * made again blindly. A message that it sends has a key of its call: made again, it is the same message.
 */
export function pendingDecision({ call, tool }: PendingCall, started: ReadonlySet<string>): PendingDecision {
  const sends = tool?.name === "message" && call.args?.["action"] === "send";
  return started.has(call.id) && !sends && (tool === undefined || tool.effects === "external")
    ? { action: "result", result: OUTCOME_UNKNOWN }
    : { action: "run" };
}

const OUTCOME_UNKNOWN: ToolResult = {
  isError: true,
  content: [
    {
      type: "text",
      text: "Outcome unknown: the gateway was restarted while this call ran, so it may or may not have taken effect. Check before you do it again, or ask.",
    },
  ],
};
