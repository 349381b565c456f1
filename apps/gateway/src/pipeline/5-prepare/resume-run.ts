import type { UserMessage } from "@signalbox/agent-core";
import type { RunHandle } from "@signalbox/lanes";
import { findSentTexts, getTurnTexts } from "@signalbox/prompt";
import type { History } from "@signalbox/runs";
import type { InterruptedRun, Run } from "@signalbox/store";
import type { GatewayContext } from "../../context.ts";
import { POISON_ATTEMPTS } from "../../messages/failures.ts";
import {
  getPlainText,
  type Queued,
  type QueuedMessage,
  type ResumedRun,
} from "../../messages/queued-message.ts";
import type { GatewayBodies } from "../../store.ts";
import { chooseModel } from "./choose-model.ts";
import { type BegunRun, begunRun, type Opened, type OpenedRun, type Spoken } from "./opened-run.ts";

/** Continues a run that an earlier process or a store failure left unfinished. Throws store errors. */
export async function resumeRun(
  ctx: GatewayContext,
  resumed: ResumedRun,
  lane: RunHandle<Queued>,
): Promise<Opened> {
  const { store, tracer } = ctx;
  const run = await ownRun(ctx, resumed.interrupted.run);
  if (run === undefined) return { kind: "nothing" };
  // The messages may have been deleted while the run was waiting.
  const interrupted = (await store.runs.inspect(run.id)) ?? resumed.interrupted;
  await Promise.all([ctx.drafts.recall(run.id), ctx.blocks.recall(run.id)]);
  const left = begunRun(ctx, interrupted);
  const { messages } = left;
  const gone = left.handle.recalled;
  const handle: RunHandle<Queued> = {
    ...lane,
    recalled: { has: (id) => gone.has(id) || lane.recalled.has(id) },
  };
  for (const { id } of messages) tracer.note(id, "prepare", `resumed after a restart, start ${run.attempts}`);
  const begun = { ...left, handle };
  if (messages.every(({ id }) => gone.has(id))) return { kind: "over", run: begun, why: "taken_back" };
  if (run.attempts > POISON_ATTEMPTS) {
    ctx.logger.error({ run: run.id, attempts: run.attempts }, "a run that crashes the process is given up");
    return { kind: "over", run: begun, why: "poison" };
  }
  if (getCommandName(interrupted) !== undefined) return { kind: "command", run: begun, handle, interrupted };
  return openAgain(ctx, begun, { ...interrupted, run });
}

/** Returns the run if this process owns it, or adopts it from an earlier process. */
async function ownRun(
  { store, lease, waitingRuns, crashBlame }: GatewayContext,
  run: Run,
): Promise<Run | undefined> {
  const { id, lease: written } = run;
  if (written.name !== lease.name || written.epoch !== lease.epoch)
    return store.runs.adopt({ runId: id, lease, counts: await crashBlame.isBlamed(run) });
  await waitingRuns.clear(id);
  return store.runs.get(id);
}

/** Reopens a run with the current agent and history. */
async function openAgain(
  ctx: GatewayContext,
  begun: BegunRun & Pick<OpenedRun, "handle">,
  interrupted: InterruptedRun<GatewayBodies>,
): Promise<Opened> {
  const { store, histories, logger } = ctx;
  const { sessionKey, messages } = begun;
  const last = messages.at(-1);
  const session = await store.sessions.get(sessionKey);
  const chosen = last && (await chooseModel(ctx, last, session));
  if (chosen?.kind !== "chosen") {
    logger.error({ run: begun.runId, err: chosen?.message }, "an interrupted run cannot be resumed");
    return { kind: "over", run: begun, why: "no_agent" };
  }
  const history = await histories.load(sessionKey, session);
  const said = interrupted.messages.map(({ message }) => message);
  const run: OpenedRun = {
    ...begun,
    generation: interrupted.run.generation,
    sessionData: session?.data,
    agent: chosen.agent,
    agentModel: chosen.agentModel,
    history: history.messages,
    seqs: history.seqs,
    spoken: spokenIn(history, interrupted, messages),
    calls: interrupted.calls,
    earlier: getTurnTexts(said),
    sentByTool: findSentTexts(said),
    notedDeletions: new Set(),
  };
  return { kind: "run", run };
}

/** Finds each message of the run in the history, which does not contain messages that were summarized. */
function spokenIn(
  { messages: history, seqs }: History,
  { messages: ofRun }: InterruptedRun<GatewayBodies>,
  messages: readonly QueuedMessage[],
): readonly Spoken[] {
  const own = new Set(ofRun.map(({ seq }) => seq));
  const untold = [...messages];
  return history.flatMap((words, at): Spoken[] => {
    const place = seqs[at] ?? 0;
    if (!own.has(place)) return [];
    const index = words.role === "user" ? untold.findIndex((message) => isSaidBy(words, message)) : -1;
    const [message] = index < 0 ? [] : untold.splice(index, 1);
    return message === undefined || words.role !== "user" ? [] : [{ message, words, place }];
  });
}

function isSaidBy({ timestamp, content }: UserMessage, message: QueuedMessage): boolean {
  return (
    timestamp === message.stored.event.timestamp &&
    typeof content === "string" &&
    content.includes(getPlainText(message))
  );
}

/** Returns the command that a run executes, based on its metadata. Returns undefined for other runs. */
export function getCommandName({ run: { meta } }: InterruptedRun<GatewayBodies>): string | undefined {
  if (meta === null || typeof meta !== "object" || !("command" in meta)) return undefined;
  return typeof meta["command"] === "string" ? meta["command"] : undefined;
}
