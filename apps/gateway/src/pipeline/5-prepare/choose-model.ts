import type { Session } from "@signalbox/store";
import { THINKING_LEVELS } from "../../chat-commands/read.ts";
import type { Agent, Agents } from "../../configure/agents.ts";
import type { AgentModel, Models } from "../../configure/models.ts";
import type { GatewayHooks } from "../../hooks/hook-points.ts";
import type { QueuedMessage } from "../4-queue/message.ts";

export interface ChooseModelPorts {
  readonly agents: Pick<Agents, "get">;
  readonly models: Pick<Models, "of">;
  readonly hooks: Pick<GatewayHooks, "modify">;
}

/** Who answers, and with which model. */
type Chosen =
  | { readonly kind: "chosen"; readonly agent: Agent; readonly agentModel: AgentModel }
  | { readonly kind: "none"; readonly code: "no_agent" | "no_model"; readonly message: string };

export type ChooseModel = (message: QueuedMessage, session: Session | undefined) => Promise<Chosen>;

/** The model and the level of a turn: as its directive says, else its session, else its agent. */
export function createChooseModel({ agents, models, hooks }: ChooseModelPorts): ChooseModel {
  return async ({ agentId, order, sessionKey, stored: { event } }, session) => {
    const agent = agents.get(agentId);
    if (agent === undefined)
      return { kind: "none", code: "no_agent", message: `There is no working agent ${agentId}.` };
    const choice = order?.kind === "turn" ? order.choice : {};
    const level = choice.thinking ?? session?.thinking;
    const model = choice.model ?? session?.model;
    const asked = await hooks.modify("before_model_resolve", {
      agentId,
      sessionKey,
      event,
      model: model === "default" ? undefined : model,
      thinking: THINKING_LEVELS.find((one) => one === level) ?? agent.thinking,
    });
    const agentModel = models.of(agent, asked.model);
    if (agentModel !== undefined)
      return { kind: "chosen", agent: { ...agent, thinking: asked.thinking }, agentModel };
    const message = `The agent ${agentId} has no usable model. Give its provider a key, or configure another model.`;
    return { kind: "none", code: "no_model", message };
  };
}
