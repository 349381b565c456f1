import type { Phrases } from "@signalbox/phrases";
import type { Session } from "@signalbox/store";
import { sessionSeed } from "../api/session-seed.ts";
import type { Agent } from "../configure/agents.ts";
import type { Models } from "../configure/models.ts";
import type { AnswerOptions, CommandMessage } from "./command.ts";
import type { Choice } from "./read.ts";

/** Keeps a choice with the session and says what holds now. */
export async function applyChoice(
  { store, models }: AnswerOptions,
  message: CommandMessage,
  agent: Agent,
  choice: Choice,
  phrases: Phrases,
): Promise<string> {
  await store.sessions.ensure(sessionSeed(message));
  const patch = (value: string | undefined) => (value === "default" ? null : value);
  const model = patch(choice.model);
  const thinking = patch(choice.thinking);
  const session = await store.sessions.patch(message.sessionKey, {
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
  });
  const lines: string[] = [];
  if (model !== undefined) lines.push(phrases.modelChosen(modelOf(models, agent, session)));
  if (thinking !== undefined) {
    const level = session.thinking ?? agent.thinking;
    const levels = models.of(agent, session.model)?.model.thinking ?? [];
    const clamped = level !== "off" && levels.length === 0 ? ` ${phrases.cannotThink}` : "";
    lines.push(`${phrases.thinkingChosen(level)}${clamped}`);
  }
  return lines.join("\n");
}

/** What answers in a session. */
export function modelOf(models: Pick<Models, "of">, agent: Agent, session: Session | undefined): string {
  const chosen = models.of(agent, session?.model)?.model;
  return chosen === undefined ? "none" : `${chosen.provider}/${chosen.id}`;
}
