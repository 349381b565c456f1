import type { UserMessage } from "@signalbox/agent-core";
import type { BlockReplies, Drafts } from "@signalbox/delivery";
import type { RunHandle } from "@signalbox/lanes";
import { sentTexts, turnTexts } from "@signalbox/prompt";
import type { Histories, History } from "@signalbox/runs";
import type { InterruptedRun, LeaseToken, Run, RunId } from "@signalbox/store";
import type { Logger } from "@signalbox/telemetry/logger";
import type { GatewayBodies, GatewayStore } from "../../store.ts";
import type { Tracer } from "../../traces.ts";
import {
  type Queued,
  type QueuedMessage,
  type ReadOrder,
  type ResumedRun,
  spokenText,
} from "../4-queue/message.ts";
import { POISON_ATTEMPTS } from "../failures.ts";
import type { ChooseModel } from "./choose-model.ts";
import { type BegunRun, begunRun, type Opened, type OpenedRun, type Spoken } from "./opened-run.ts";

export interface TakeUpPorts {
  readonly store: Pick<GatewayStore, "sessions" | "runs">;
  readonly lease: LeaseToken;
  readonly chooseModel: ChooseModel;
  readonly histories: Pick<Histories, "load">;
  readonly drafts: Pick<Drafts, "recall">;
  readonly blocks: Pick<BlockReplies<RunId>, "recall">;
  readonly readOrder: ReadOrder;
  /** An earlier try of this process does not wait for a person any more. */
  readonly waitsNoMore: (runId: RunId) => Promise<void>;
  readonly tracer: Tracer;
  readonly logger: Logger;
}

export type TakeUp = (resumed: ResumedRun, handle: RunHandle<Queued>) => Promise<Opened>;

/** Continues a run that an earlier process, or a failing store, has left. Throws what a failing store throws. */
export function createTakeUp(ports: TakeUpPorts): TakeUp {
  const { store, tracer } = ports;
  return async (resumed, lane) => {
    const run = await ownRun(ports, resumed.interrupted.run);
    if (run === undefined) return { kind: "nothing" };
    // While it waited, its messages may have been deleted.
    const interrupted = (await store.runs.inspect(run.id)) ?? resumed.interrupted;
    await Promise.all([ports.drafts.recall(run.id), ports.blocks.recall(run.id)]);
    const left = begunRun(interrupted, ports.readOrder);
    const { messages } = left;
    const gone = left.handle.recalled;
    const handle: RunHandle<Queued> = {
      ...lane,
      recalled: { has: (id) => gone.has(id) || lane.recalled.has(id) },
    };
    for (const { id } of messages) tracer.note(id, "lane", `taken up after a restart, start ${run.attempts}`);
    const begun = { ...left, handle };
    if (messages.every(({ id }) => gone.has(id))) return { kind: "over", run: begun, why: "taken-back" };
    if (run.attempts > POISON_ATTEMPTS) {
      ports.logger.error(
        { run: run.id, attempts: run.attempts },
        "a run that crashes the process is given up",
      );
      return { kind: "over", run: begun, why: "poison" };
    }
    if (commandOf(interrupted) !== undefined) return { kind: "command", run: begun, handle, interrupted };
    return openAgain(ports, begun, { ...interrupted, run });
  };
}

/** A run of this very process was left by a failing store; one of an earlier process has to be taken over. */
async function ownRun(
  { store, lease, waitsNoMore }: TakeUpPorts,
  { id, lease: written }: Run,
): Promise<Run | undefined> {
  if (written.name !== lease.name || written.epoch !== lease.epoch)
    return store.runs.adopt({ runId: id, lease });
  await waitsNoMore(id);
  return store.runs.get(id);
}

/** A run continues with its agent and its history as they are now. */
async function openAgain(
  { store, chooseModel, histories, logger }: TakeUpPorts,
  begun: BegunRun & Pick<OpenedRun, "handle">,
  interrupted: InterruptedRun<GatewayBodies>,
): Promise<Opened> {
  const { sessionKey, messages } = begun;
  const last = messages.at(-1);
  const session = await store.sessions.get(sessionKey);
  const chosen = last && (await chooseModel(last, session));
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
    places: history.places,
    spoken: spokenIn(history, interrupted, messages),
    calls: interrupted.calls,
    earlier: turnTexts(said),
    sentByTool: sentTexts(said),
  };
  return { kind: "run", run };
}

/**
 * How the history has each message that the run was told. A message that was told in short, or that a summary stands
 * for by now, has no words of its own there.
 */
function spokenIn(
  { messages: history, places }: History,
  { messages: ofRun }: InterruptedRun<GatewayBodies>,
  messages: readonly QueuedMessage[],
): readonly Spoken[] {
  const own = new Set(ofRun.map(({ seq }) => seq));
  const untold = [...messages];
  return history.flatMap((words, at): Spoken[] => {
    const place = places[at] ?? 0;
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
    content.includes(spokenText(message))
  );
}

/** Which command's run it is, by what was put on record with its beginning; undefined for a turn. */
export function commandOf({ run: { meta } }: InterruptedRun<GatewayBodies>): string | undefined {
  if (meta === null || typeof meta !== "object" || !("command" in meta)) return undefined;
  return typeof meta["command"] === "string" ? meta["command"] : undefined;
}
