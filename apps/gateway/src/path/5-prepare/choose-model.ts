import type { Session } from "@signalbox/store";
import type { Agent } from "../../agents.ts";
import { THINKING_LEVELS } from "../../commands/read.ts";
import type { AgentModel } from "../../models.ts";
import type { MessageTicket } from "../4-queue/message.ts";
import type { RunOptions } from "./open-run.ts";

/** The model and the level of a turn: as its directive says, else its session, else its agent. */
export async function chooseModel(
  options: Pick<RunOptions, "hooks" | "models">,
  agent: Agent,
  { order, sessionKey, stored: { event } }: MessageTicket,
  session: Session | undefined,
): Promise<{ readonly agent: Agent; readonly agentModel: AgentModel } | undefined> {
  const choice = order?.kind === "turn" ? order.choice : {};
  const level = choice.thinking ?? session?.thinking;
  const model = choice.model ?? session?.model;
  const asked = await options.hooks.modify("before_model_resolve", {
    agentId: agent.id,
    sessionKey,
    event,
    model: model === "default" ? undefined : model,
    thinking: THINKING_LEVELS.find((one) => one === level) ?? agent.thinking,
  });
  const agentModel = options.models.of(agent, asked.model);
  return agentModel && { agent: { ...agent, thinking: asked.thinking }, agentModel };
}
