import type { ChannelCommand } from "@signalbox/channel";
import { listedCommands } from "@signalbox/commands";
import { agentsOfAccount } from "@signalbox/routing";
import { type Agent, routingConfig } from "@signalbox/setup";
import type { SkillCommand } from "@signalbox/skills";
import type { Parts } from "./surroundings.ts";

/**
 * The commands that platforms list for an account: the built-in ones, and those of the skills that all agents share to
 * which its messages can go. A list is the same for everybody, so it tells of no skill that one agent does not have.
 */
export function accountCommands(
  { configuration, resolved: { agents } }: Pick<Parts, "configuration" | "resolved">,
  skillsOf: (agent: Agent) => readonly SkillCommand[],
): (channel: string, account: string) => readonly ChannelCommand[] {
  return (channel, account) => {
    const ids = agentsOfAccount(routingConfig(configuration.config(), agents), channel, account);
    const [first = [], ...others] = agents.all.filter(({ id }) => ids.includes(id)).map(skillsOf);
    const common = first.filter(({ name, skillId }) =>
      others.every((list) => list.some((other) => other.name === name && other.skillId === skillId)),
    );
    return [
      ...listedCommands(),
      ...common.map(({ name, description }) => ({ name, description, usage: "[text]" })),
    ];
  };
}
