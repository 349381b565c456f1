import type { Phrases } from "@signalbox/phrases";
import type { Session } from "@signalbox/store";
import type { Choice } from "../command-syntax/read.ts";
import type { Agent } from "../configure/agents.ts";
import type { Models } from "../configure/models.ts";
import type { GatewayContext } from "../context.ts";
import { sessionSeed } from "../messages/session-seed.ts";
import type { CommandMessage } from "./command.ts";

/** Stores a choice in the session and returns a description of the settings in effect. */
export async function applyChoice(
  { store, config }: GatewayContext,
  message: CommandMessage,
  agent: Agent,
  choice: Choice,
  phrases: Phrases,
): Promise<string> {
  const { models } = config.current();
  await store.sessions.ensure(sessionSeed(message));
  const patch = (value: string | undefined) => (value === "default" ? null : value);
  const model = patch(choice.model);
  const thinking = patch(choice.thinking);
  const session = await store.sessions.patch(message.sessionKey, {
    model,
    thinking,
  });
  const lines: string[] = [];
  if (model !== undefined) lines.push(phrases.modelChosen(getSessionModel(models, agent, session)));
  if (thinking !== undefined) {
    const level = session.thinking ?? agent.thinking;
    const levels = models.of(agent, session.model)?.model.thinking ?? [];
    const clamped = level !== "off" && levels.length === 0 ? ` ${phrases.cannotThink}` : "";
    lines.push(`${phrases.thinkingChosen(level)}${clamped}`);
  }
  return lines.join("\n");
}

/** Returns the model of a session, as `provider/model`. */
export function getSessionModel(models: Models, agent: Agent, session: Session | undefined): string {
  const chosen = models.of(agent, session?.model)?.model;
  return chosen === undefined ? "none" : `${chosen.provider}/${chosen.id}`;
}
