import { type AgentEvent, textOf } from "@signalbox/agent-core";
import type { GatewayHooks, InRun } from "@signalbox/setup/hooks";
import type { PreparedRun } from "../5-prepare/prepare.ts";

/** Tells hooks what happens in a run. */
export function createHookTeller(
  hooks: Pick<GatewayHooks, "observe">,
  { agent, agentModel, sessionKey, runId, messages, input }: PreparedRun,
): (event: AgentEvent) => void {
  const place: InRun = { agentId: agent.id, sessionKey, runId };
  const model = `${agentModel.model.provider}/${agentModel.model.id}`;
  return (happened) => {
    switch (happened.type) {
      case "run.start": {
        const messageIds = messages.map(({ stored }) => stored.event.messageId);
        // What goes on after a restart has no new input.
        return hooks.observe("run_start", { ...place, model, messageIds, goesOn: input === undefined });
      }
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
