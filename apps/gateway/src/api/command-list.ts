import { phrasesIn } from "@signalbox/phrases";
import type { CommandInfo, CommandQuery } from "@signalbox/protocol";
import { getSkillCommands } from "../chat-commands/skill-commands.ts";
import { describeCommands } from "../command-syntax/table.ts";
import type { GatewayContext } from "../context.ts";

/** Lists the chat commands of an agent that a role may use. Returns undefined if there is no such agent. */
export function listCommands(
  ctx: GatewayContext,
  { agent: agentId, language }: CommandQuery,
  role: "owner" | "member",
): CommandInfo[] | undefined {
  const { agents } = ctx.config.current();
  const agent = agents.get(agentId ?? agents.defaultId);
  return agent && describeCommands(phrasesIn(language), role, getSkillCommands(ctx, agent));
}
