import { readInvocation, type SkillCommand } from "@signalbox/skills";
import type { Agent, Agents } from "../configure/agents.ts";
import type { Models } from "../configure/models.ts";
import type { ReadOrder } from "../pipeline/4-queue/message.ts";
import { readOrder } from "./read.ts";

export interface ReadOrderPorts {
  readonly agents: Pick<Agents, "get">;
  readonly models: Pick<Models, "choose">;
  /** The commands of an agent's skills. */
  readonly skills: (agent: Agent) => readonly SkillCommand[];
}

/** Reads what a message orders beyond its plain text, with the agent's skills and models. */
export function createReadOrder(ports: ReadOrderPorts): ReadOrder {
  return ({ event, role, wake }, agentId) => {
    const agent = ports.agents.get(agentId);
    // Most messages are no order; nothing is looked up for them. What nobody has written orders nothing.
    if (agent === undefined || wake !== undefined || !event.text.trimStart().startsWith("/"))
      return undefined;
    const skill = (text: string) => readInvocation(text, ports.skills(agent));
    return readOrder(event, { role, skill, model: (name) => ports.models.choose(name) });
  };
}
