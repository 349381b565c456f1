import type { SkillCommand } from "@signalbox/skills";
import { COMMANDS } from "../command-syntax/table.ts";
import type { Agent } from "../configure/agents.ts";
import { getAgentTools } from "../configure/tool-names.ts";
import type { GatewayContext } from "../context.ts";

/** Returns the commands of an agent's skills. */
export function getSkillCommands({ config }: GatewayContext, agent: Agent): readonly SkillCommand[] {
  const { skills, plugins } = config.current();
  return skills
    .latest(agent)
    .commands({ reserved: Object.keys(COMMANDS), tools: getAgentTools(agent, plugins) });
}
