import type { Session } from "@signalbox/store";
import { THINKING_LEVELS } from "../../command-syntax/read.ts";
import type { Agent } from "../../configure/agents.ts";
import type { AgentModel } from "../../configure/models.ts";
import type { GatewayContext } from "../../context.ts";
import type { QueuedMessage } from "../../messages/queued-message.ts";

/** The agent and model of a run, or the reason why there is none. */
type Chosen =
  | { readonly kind: "chosen"; readonly agent: Agent; readonly agentModel: AgentModel }
  | { readonly kind: "none"; readonly code: "no_agent" | "no_model"; readonly message: string };

/**
 * Chooses the model and the thinking level of a run. A directive takes precedence over the session, and the session
 * over the agent.
 */
export async function chooseModel(
  ctx: GatewayContext,
  { agentId, order, sessionKey, stored: { event } }: QueuedMessage,
  session: Session | undefined,
): Promise<Chosen> {
  const agent = ctx.config.current().agents.at(agentId, sessionKey);
  if (agent === undefined)
    return { kind: "none", code: "no_agent", message: `There is no working agent ${agentId}.` };
  const choice = order?.kind === "turn" ? order.choice : {};
  const level = choice.thinking ?? session?.thinking;
  const model = choice.model ?? session?.model;
  const asked = await ctx.hooks.modify("before_model_resolve", {
    agentId,
    sessionKey,
    event,
    model: model === "default" ? undefined : model,
    thinking: THINKING_LEVELS.find((one) => one === level) ?? agent.thinking,
  });
  const agentModel = ctx.config.current().models.of(agent, asked.model);
  if (agentModel !== undefined)
    return { kind: "chosen", agent: { ...agent, thinking: asked.thinking }, agentModel };
  const message = `The agent ${agentId} has no usable model. Give its provider a key, or configure another model.`;
  return { kind: "none", code: "no_model", message };
}
