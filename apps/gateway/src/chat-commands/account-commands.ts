import type { ChannelCommand } from "@signalbox/channel";
import { phrasesIn } from "@signalbox/phrases";
import { getAccountAgents } from "@signalbox/routing";
import { describeSkill, listedCommands } from "../command-syntax/table.ts";
import { routingConfig } from "../configure/routing.ts";
import type { GatewayContext } from "../context.ts";
import { getSkillCommands } from "./skill-commands.ts";

/**
 * Returns the commands that a platform lists for an account: the built-in commands, and skill commands that every agent
 * reachable through the account has. All users see the same list, so it must not reveal the skills of one agent. The
 * list is in a single language only if all agents use that language.
 */
export function accountCommands(
  ctx: GatewayContext,
): (channel: string, account: string) => readonly ChannelCommand[] {
  return (channel, account) => {
    const { settings, agents } = ctx.config.current();
    const ids = getAccountAgents(routingConfig(settings, agents), channel, account);
    const itsAgents = agents.all.filter(({ id }) => ids.includes(id));
    const [first = [], ...others] = itsAgents.map((agent) => getSkillCommands(ctx, agent));
    const common = first.filter(({ name, skillId }) =>
      others.every((list) => list.some((other) => other.name === name && other.skillId === skillId)),
    );
    const [itsLanguage, ...otherLanguages] = new Set(itsAgents.map((agent) => agent.language));
    const language = otherLanguages.length === 0 ? itsLanguage : undefined;
    const phrases = phrasesIn(language ?? "en");
    return [
      ...listedCommands(language),
      ...common.map((skill) => ({
        name: skill.name,
        description: describeSkill(phrases, skill),
        // Discord rejects all commands if one has an unknown language.
        localized: language === undefined ? { zh: describeSkill(phrasesIn("zh"), skill) } : undefined,
        usage: phrases.usages.ofSkill,
      })),
    ];
  };
}
