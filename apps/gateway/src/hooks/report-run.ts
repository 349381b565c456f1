import { type AgentEvent, textOf } from "@signalbox/agent-core";
import type { GatewayHooks, InRun, RunStarted } from "./hook-points.ts";

/** Creates a function that reports a run's events to hooks. */
export function createRunReporter(hooks: GatewayHooks, run: RunStarted): (event: AgentEvent) => void {
  const { agentId, sessionKey, runId, model } = run;
  const place: InRun = { agentId, sessionKey, runId };
  return (happened) => {
    switch (happened.type) {
      case "run.start":
        return hooks.observe("run_start", run);
      case "turn.start":
        return hooks.observe("turn_start", { ...place, model, turn: happened.turn });
      case "turn.end": {
        const { turn, message } = happened;
        const { stopReason, usage, content } = message;
        const tools = content.flatMap((block) => (block.type === "toolCall" ? [block.name] : []));
        return hooks.observe("turn_end", {
          ...place,
          model,
          turn,
          stopReason,
          text: textOf(content),
          tools,
          usage,
        });
      }
      case "tool.end": {
        const { call, result, outcome, durationMs } = happened;
        const { id: callId, name: tool, args } = call;
        const text = textOf(result.content, "\n");
        return hooks.observe("after_tool_call", { ...place, tool, callId, args, outcome, text, durationMs });
      }
      case "compaction.start": {
        const { reason, tokens } = happened;
        return hooks.observe("compaction_start", { ...place, reason, tokens });
      }
      case "compaction.end": {
        const { source, tokens } = happened;
        return hooks.observe("compaction_end", { ...place, source, tokens });
      }
    }
  };
}
