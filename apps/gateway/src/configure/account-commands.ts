import type { ChannelCommand } from "@signalbox/channel";
import type { Config } from "@signalbox/config";
import { agentsOfAccount } from "@signalbox/routing";
import type { SkillCommand } from "@signalbox/skills";
import { listedCommands } from "../chat-commands/table.ts";
import type { Agent, Agents } from "./agents.ts";
import { routingConfig } from "./routing.ts";

export interface AccountCommandsPorts {
  /** As it applies at the moment. */
  readonly config: () => Config;
  readonly agents: Agents;
  /** The commands of an agent's skills. */
  readonly skillsOf: (agent: Agent) => readonly SkillCommand[];
}

/**
 * The commands that platforms list for an account: the built-in ones, and those of the skills that all agents share to
 * which its messages can go. A list is the same for everybody, so it tells of no skill that one agent does not have. It
 * is in one language alone where all agents are set to that.
 */
export function accountCommands({
  config,
  agents,
  skillsOf,
}: AccountCommandsPorts): (channel: string, account: string) => readonly ChannelCommand[] {
  return (channel, account) => {
    const ids = agentsOfAccount(routingConfig(config(), agents), channel, account);
    const itsAgents = agents.all.filter(({ id }) => ids.includes(id));
    const [first = [], ...others] = itsAgents.map(skillsOf);
    const common = first.filter(({ name, skillId }) =>
      others.every((list) => list.some((other) => other.name === name && other.skillId === skillId)),
    );
    const [language, ...otherLanguages] = new Set(itsAgents.map((agent) => agent.language));
    return [
      ...listedCommands(otherLanguages.length === 0 ? language : undefined),
      ...common.map(({ name, description }) => ({ name, description, usage: "[text]" })),
    ];
  };
}
