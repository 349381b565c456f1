import { reasonOf } from "@signalbox/agent-core";
import type { Batch, RunHandle, Supervisor } from "@signalbox/lanes";
import { type InterruptedRun, type LeaseToken, type Run, storeErrorIn } from "@signalbox/store";
import type { Logger } from "@signalbox/telemetry/logger";
import { ShutdownAbort } from "../shutdown.ts";
import type { GatewayBodies, GatewayStore } from "../store.ts";
import { messagesIn, type Queued, type QueuedMessage, resumedRun } from "./4-queue/message.ts";
import type { NewMessages } from "./5-prepare/opened-run.ts";
import { HeldElsewhere, judgeRun } from "./failures.ts";

export interface AnswerPorts {
  readonly store: Pick<GatewayStore, "sessions" | "runs" | "inbox">;
  readonly lease: LeaseToken;
  readonly supervisor: Pick<Supervisor, "run">;
  /** Answers messages that have no run yet. */
  readonly begin: (given: NewMessages, handle: RunHandle<Queued>) => Promise<void>;
  /** Continues a recorded run. */
  readonly goOn: (interrupted: InterruptedRun<GatewayBodies>, handle: RunHandle<Queued>) => Promise<void>;
  /** Ends a run and messages that would fail again and again, and tells their senders. */
  readonly giveUp: (left: Left, error: unknown) => Promise<void>;
  readonly logger: Logger;
}

/** What is left to do of messages whose run broke off. */
export interface Left {
  /** The run that is on record. */
  readonly held: InterruptedRun<GatewayBodies> | undefined;
  /** What has no run yet. */
  readonly waiting: readonly QueuedMessage[];
}

/**
 * Answers what a lane hands over, over failures of the store that pass. Never rejects: what cannot be answered has its
 * end, or is left on record for the next process.
 */
export function createAnswer(
  ports: AnswerPorts,
): (batch: Batch<Queued>, handle: RunHandle<Queued>) => Promise<void> {
  return async (batch, lane) => {
    const [item] = batch.items;
    if (item === undefined) return;
    const { sessionKey } = item;
    const messages = messagesIn([...batch.summarised, ...batch.items]);
    const handle: RunHandle<Queued> = {
      ...lane,
      takeSteering() {
        const taken = lane.takeSteering();
        messages.push(...messagesIn([...taken.summarised, ...taken.items]));
        return taken;
      },
    };
    const { outcome } = await ports.supervisor.run({
      name: `answer in ${sessionKey}`,
      attempt: (attempts) =>
        unlessHeldElsewhere(ports, sessionKey, async () =>
          attempts === 0
            ? answerFirst(ports, batch, handle)
            : answerLeft(ports, await leftOf(ports, sessionKey, messages), handle),
        ),
      retryPolicy: (error, failures) =>
        // The next process goes on with it.
        lane.signal.reason instanceof ShutdownAbort ? "retry" : judgeRun(error, failures),
      giveUp: async (error) => {
        ports.logger.error({ session: sessionKey, err: reasonOf(error) }, "a run failed inside the gateway");
        const { held, waiting } = await leftOf(ports, sessionKey, messages);
        // Another's run is not to blame, and not ours to end.
        await ports.giveUp({ held: held && isOwn(ports, held.run) ? held : undefined, waiting }, error);
      },
      onWaiting: (on) => lane.standBy(on),
    });
    // It is still to be answered, by the next process.
    if (outcome === "fatal") lane.block();
  };
}

/** @throws HeldElsewhere where the session has a run of another process */
async function unlessHeldElsewhere(
  ports: AnswerPorts,
  key: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (storeErrorIn(error)?.code !== "busy") throw error;
    const { held } = await leftOf(ports, key, []);
    if (held === undefined || isOwn(ports, held.run)) throw error;
    throw new HeldElsewhere(`the session ${key} is held by the run ${held.run.id} of another process`);
  }
}

function isOwn({ lease }: AnswerPorts, run: Run): boolean {
  return run.lease.name === lease.name && run.lease.epoch === lease.epoch;
}

function answerFirst(
  { begin, goOn }: AnswerPorts,
  { items, summarised }: Batch<Queued>,
  handle: RunHandle<Queued>,
): Promise<void> {
  const [item] = items;
  return item?.kind === "resume"
    ? goOn(item.interrupted, handle)
    : begin({ messages: messagesIn(items), summarised: messagesIn(summarised) }, handle);
}

async function leftOf(
  { store }: AnswerPorts,
  sessionKey: string,
  messages: readonly QueuedMessage[],
): Promise<Left> {
  const session = await store.sessions.get(sessionKey);
  const held = session?.activeRun === undefined ? undefined : await store.runs.inspect(session.activeRun);
  const waiting: QueuedMessage[] = [];
  for (const message of messages)
    if ((await store.inbox.get(message.id))?.state === "queued") waiting.push(message);
  return { held, waiting };
}

/** Continues the recorded run; messages that it does not have yet steer it first. */
async function answerLeft(
  { begin, goOn }: AnswerPorts,
  { held, waiting }: Left,
  handle: RunHandle<Queued>,
): Promise<void> {
  if (held === undefined || resumedRun(held) === undefined)
    return begin({ messages: waiting, summarised: [] }, handle);
  const steering = [...waiting];
  await goOn(held, {
    ...handle,
    takeSteering: () => {
      // They came before whatever waits in the lane.
      const before = handle.signal.aborted ? [] : steering.splice(0);
      const { items, summarised } = handle.takeSteering();
      return { items: [...before, ...items], summarised };
    },
  });
  await begin({ messages: steering, summarised: [] }, handle);
}
