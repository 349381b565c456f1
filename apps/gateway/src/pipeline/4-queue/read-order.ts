import { readInvocation } from "@signalbox/skills";
import { getSkillCommands } from "../../chat-commands/skill-commands.ts";
import { type Order, readOrder } from "../../command-syntax/read.ts";
import type { GatewayContext } from "../../context.ts";
import type { InboundRecord } from "../../store.ts";

/** Parses what a message orders beyond its plain text, with the agent's skills and models. */
export function readMessageOrder(
  ctx: GatewayContext,
  { event, role, trigger }: InboundRecord,
  agentId: string,
): Order | undefined {
  const { agents, models } = ctx.config.current();
  const agent = agents.get(agentId);
  // A trigger orders nothing. Most messages are not commands, so nothing is looked up for them.
  if (agent === undefined || trigger !== undefined || !event.text.trimStart().startsWith("/"))
    return undefined;
  const skill = (text: string) => readInvocation(text, getSkillCommands(ctx, agent));
  return readOrder(event, { role, skill, model: (name) => models.choose(name) });
}
