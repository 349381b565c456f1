import { getSpeakerKey } from "@signalbox/channel";
import { compactConversation } from "@signalbox/runs";
import { createSessionTaint, type Role, type TaintedSession } from "@signalbox/tools";
import type { GatewayContext } from "../../context.ts";
import { getSenderPhrases } from "../../messages/sender-phrases.ts";
import { type CommandRun, endCommand, stopCommand } from "./command-run.ts";

export async function compactNow(ctx: GatewayContext, run: CommandRun): Promise<void> {
  const { store, lease, histories, hooks } = ctx;
  const { agent, handle } = run;
  const phrases = await getSenderPhrases(ctx, agent, run.message);
  const { sessionKey } = run.message;
  const session = await store.sessions.get(sessionKey);
  const chosen = ctx.config.current().models.of(agent, session?.model);
  if (chosen === undefined) return endCommand(ctx, run, phrases.noUsableModel(agent.id));
  const agentModel = ctx.spending.forMessage(chosen, run.message);
  const place = { agentId: agent.id, sessionKey, runId: run.runId };
  const speakers = getSpeakerFacts(ctx, run, session);
  const beforeCompaction = ctx.flushMemory({ agent, agentModel, sessionKey, ...speakers });
  const done = await compactConversation(
    { sessions: store.sessions, histories, lease },
    {
      sessionKey,
      session,
      model: agentModel.model,
      stream: agentModel.stream,
      policy: { cache: ctx.compactionCache },
      beforeCompaction,
      signal: handle.signal,
      now: ctx.now,
      onStart: (tokens) => hooks.observe("compaction_start", { ...place, reason: "manual", tokens }),
    },
  );
  if (done === undefined && handle.signal.aborted) return stopCommand(ctx, run);
  if (done === undefined) return endCommand(ctx, run, phrases.nothingToCompact);
  const { replaced, messages, tokens, tokensLeft, source, used } = done;
  hooks.observe("compaction_end", { ...place, source, tokens: tokensLeft });
  const text = phrases.compacted(replaced, messages, tokens, source === "model");
  await endCommand(ctx, run, text, used.turns === 0 ? {} : { used });
}

/** Returns the role and the taint for notes about the conversation. Other speakers taint the notes. */
function getSpeakerFacts(
  { store }: GatewayContext,
  { message: { sessionKey, stored } }: CommandRun,
  session: TaintedSession = { key: sessionKey, generation: 0 },
): { role: () => Role; taint: () => readonly string[] } {
  const { sources, speakers } = createSessionTaint(store.sessions, session).earlier;
  const own = getSpeakerKey(stored.event);
  const isAlone = speakers.every((speaker) => speaker === own);
  return { role: () => stored.role, taint: () => (isAlone ? sources : [...sources, "history"]) };
}
