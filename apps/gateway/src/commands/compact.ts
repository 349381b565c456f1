import { addUsage, compact, estimateTokens } from "@signalbox/agent-core";
import { speakerOf } from "@signalbox/channel";
import { createSessionTaint, type Role } from "@signalbox/tools";
import { type CommandRun, endCommand, type InTurnPorts, stopCommand } from "./command-run.ts";

/** A quarter of the window stays as it is, as when a turn runs out of room, and never all of a short conversation. */
const KEPT_SHARE = 0.25;

export async function compactNow(options: InTurnPorts, run: CommandRun): Promise<void> {
  const { store, lease, histories } = options;
  const { agent, handle } = run;
  const { sessionKey } = run.message;
  const session = await store.sessions.get(sessionKey);
  const chosen = options.models.of(agent, session?.model);
  if (chosen === undefined) return endCommand(options, run, `The agent ${agent.id} has no usable model.`);
  const agentModel = options.spending.forMessage(chosen, run.message);
  const { messages, places } = await histories.load(sessionKey, session);
  const tokens = estimateTokens(messages);
  const place = { agentId: agent.id, sessionKey, runId: run.runId };
  options.hooks.observe("compaction_start", { ...place, reason: "manual", tokens });
  const beforeCompaction = options.flush({
    agent,
    agentModel,
    sessionKey,
    ...(await speakersOf(options, run, session?.generation ?? 0)),
  });
  const done = await compact({
    messages,
    keepTokens: Math.floor(Math.min(agentModel.model.contextWindow, tokens) * KEPT_SHARE),
    model: agentModel.model,
    stream: agentModel.stream,
    policy: { cache: options.compactionCache },
    ...(beforeCompaction === undefined ? {} : { beforeCompaction }),
    signal: handle.signal,
    now: options.now,
  });
  if (handle.signal.aborted) return stopCommand(options, run);
  const upTo = done === undefined ? undefined : places[done.replaced - 1];
  if (done === undefined || upTo === undefined)
    return endCommand(options, run, "There is nothing to compact yet.");
  await store.sessions.compact(sessionKey, { summary: done.summary, upTo, lease });
  histories.forget(sessionKey);
  const left = estimateTokens([done.summary, ...messages.slice(done.replaced)]);
  options.hooks.observe("compaction_end", { ...place, source: done.source, tokens: left });
  const usages = done.turns.flatMap((turn) => turn.usage ?? []);
  const [first, ...rest] = usages;
  const used =
    first === undefined
      ? {}
      : { used: { usage: rest.reduce(addUsage, first), turns: done.turns.length, toolCalls: 0 } };
  const by = done.source === "model" ? "" : " The model gave none in time, so it only lists what there was.";
  const text = `A summary stands for ${done.replaced} of ${messages.length} messages now (about ${tokens} tokens before).${by}`;
  await endCommand(options, run, text, used);
}

/** Whose words are in the conversation: what is noted from it is an owner's only where nobody else spoke. */
async function speakersOf(
  { store }: InTurnPorts,
  { message: { sessionKey, stored } }: CommandRun,
  generation: number,
): Promise<{ role: () => Role; taint: () => readonly string[] }> {
  const { sources, speakers } = await createSessionTaint(store.sessions, {
    sessionKey,
    generation,
  }).earlier();
  const own = speakerOf(stored.event);
  const isAlone = speakers.every((speaker) => speaker === own);
  return { role: () => stored.role, taint: () => (isAlone ? sources : [...sources, "history"]) };
}
