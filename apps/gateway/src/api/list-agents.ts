import type { AgentInfo } from "@signalbox/protocol";
import type { Agent } from "../configure/agents.ts";
import type { LiveConfig } from "../configure/live-config.ts";

/** Lists the configured agents with the model that each one uses. */
export function listAgents(config: LiveConfig): AgentInfo[] {
  const { agents, models } = config.current();
  return agents.all.map((agent: Agent) => {
    const chosen = models.of(agent);
    const model = chosen ? `${chosen.model.provider}/${chosen.model.id}` : (agent.model ?? "none");
    const { id, name } = agent;
    return { id, name, model, demo: chosen?.demo === true, default: id === agents.defaultId };
  });
}
