import { readInvocation } from "@signalbox/skills";
import { getSkillCommands } from "../../chat-commands/skill-commands.ts";
import { type Order, readOrder } from "../../command-syntax/read.ts";
import type { GatewayContext } from "../../context.ts";
import type { InboundRecord } from "../../store.ts";

/** Parses the command or directives of a message, with the agent's skills and models. */
export function readMessageOrder(
  ctx: GatewayContext,
  { event, role, trigger }: InboundRecord,
  { agentId, sessionKey }: { readonly agentId: string; readonly sessionKey: string },
): Order | undefined {
  const { agents, models } = ctx.config.current();
  const agent = agents.at(agentId, sessionKey);
  // Triggers contain no commands. Neither do most messages, so the skills and models are only read for text that starts
  // with a slash.
  if (agent === undefined || trigger !== undefined || !event.text.trimStart().startsWith("/"))
    return undefined;
  const skill = (text: string) => readInvocation(text, getSkillCommands(ctx, agent));
  return readOrder(event, { role, skill, model: (name) => models.choose(name) });
}
