import type { ChannelCommand } from "@signalbox/channel";
import { phrasesIn } from "@signalbox/phrases";
import { getAccountAgents } from "@signalbox/routing";
import { describeSkill, listedCommands } from "../command-syntax/table.ts";
import { routingConfig } from "../configure/routing.ts";
import type { GatewayContext } from "../context.ts";
import { getSkillCommands } from "./skill-commands.ts";

/**
 * Returns the commands that a platform lists for an account: the built-in commands, and the skill commands of every
 * agent that is reachable through the account. All users see the same list, so it must not reveal the skills of a
 * single agent. The list uses a single language only if all agents use it.
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
        // Discord rejects all commands if one of them has an unknown language.
        localized: language === undefined ? { zh: describeSkill(phrasesIn("zh"), skill) } : undefined,
        usage: phrases.usages.ofSkill,
      })),
    ];
  };
}
