import { reasonOf } from "@signalbox/agent-core";
import type { Batch, RunHandle } from "@signalbox/lanes";
import { getStoreError, type InterruptedRun, type Run } from "@signalbox/store";
import type { GatewayContext } from "../context.ts";
import { classifyRunFailure, SessionBusyError } from "../messages/failures.ts";
import { messagesIn, type Queued, type QueuedMessage, resumedRun } from "../messages/queued-message.ts";
import { ShutdownAbort } from "../shutdown.ts";
import type { GatewayBodies } from "../store.ts";
import type { Unfinished } from "./5-prepare/opened-run.ts";
import { begin, giveUp, resume } from "./pipeline.ts";

/** The processing part of the pipeline. */
export interface Work {
  readonly begin: typeof begin;
  readonly resume: typeof resume;
  readonly giveUp: typeof giveUp;
}

/**
 * Answers a batch of messages and retries if the store fails temporarily. Never rejects: messages that cannot be
 * answered are finished or stay recorded for the next process.
 */
export async function processBatch(
  ctx: GatewayContext,
  batch: Batch<Queued>,
  lane: RunHandle<Queued>,
  work: Work = { begin, resume, giveUp },
): Promise<void> {
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
  const { outcome } = await ctx.supervisor.run({
    name: `answer in ${sessionKey}`,
    attempt: (attempts) =>
      skipBusySession(ctx, sessionKey, async () =>
        attempts === 0
          ? answerFirst(ctx, batch, handle, work)
          : answerRest(ctx, await getUnfinished(ctx, sessionKey, messages), {
              handle,
              work,
              isOfBatch: (run) => isRunOf(run, item, messages),
            }),
      ),
    retryPolicy: (error, failures) =>
      // The next process continues.
      lane.signal.reason instanceof ShutdownAbort ? "retry" : classifyRunFailure(error, failures),
    giveUp: async (error) => {
      ctx.logger.error({ session: sessionKey, err: reasonOf(error) }, "a run failed inside the gateway");
      const { held, waiting } = await getUnfinished(ctx, sessionKey, messages);
      // The run belongs to another process, which may still complete it.
      await work.giveUp(ctx, { held: held && isOwn(ctx, held.run) ? held : undefined, waiting }, error);
    },
    onWaiting: (on) => lane.standBy(on),
  });
  // The next process answers the message.
  if (outcome === "fatal") lane.block();
}

/** @throws SessionBusyError if another process runs the session */
async function skipBusySession(ctx: GatewayContext, key: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (getStoreError(error)?.code !== "busy") throw error;
    const { held } = await getUnfinished(ctx, key, []);
    if (held === undefined || isOwn(ctx, held.run)) throw error;
    throw new SessionBusyError(`the session ${key} is busy with the run ${held.run.id} of another process`);
  }
}

function isOwn({ lease }: GatewayContext, run: Run): boolean {
  return run.lease.name === lease.name && run.lease.epoch === lease.epoch;
}

function answerFirst(
  ctx: GatewayContext,
  { items, summarised }: Batch<Queued>,
  handle: RunHandle<Queued>,
  work: Work,
): Promise<void> {
  const [item] = items;
  return item?.kind === "resume"
    ? work.resume(ctx, item.interrupted, handle)
    : work.begin(ctx, { messages: messagesIn(items), summarised: messagesIn(summarised) }, handle);
}

async function getUnfinished(
  { store }: GatewayContext,
  sessionKey: string,
  messages: readonly QueuedMessage[],
): Promise<Unfinished> {
  const session = await store.sessions.get(sessionKey);
  const held = session?.activeRun === undefined ? undefined : await store.runs.inspect(session.activeRun);
  const waiting: QueuedMessage[] = [];
  for (const message of messages)
    if ((await store.inbox.get(message.id))?.state === "queued") waiting.push(message);
  return { held, waiting };
}

/** Returns true if a run has begun with this batch. */
function isRunOf(
  { run, inbox }: InterruptedRun<GatewayBodies>,
  first: Queued,
  messages: readonly QueuedMessage[],
): boolean {
  if (first.kind === "resume") return first.interrupted.run.id === run.id;
  return inbox.some(({ id }) => messages.some((message) => message.id === id));
}

interface Continuation {
  readonly handle: RunHandle<Queued>;
  readonly work: Work;
  readonly isOfBatch: (run: InterruptedRun<GatewayBodies>) => boolean;
}

/**
 * Continues the recorded run. If it began with this batch, messages that it does not contain yet steer it first. The
 * run of another process is completed before this batch, which may contain a command or messages of another person.
 */
async function answerRest(
  ctx: GatewayContext,
  { held, waiting }: Unfinished,
  { handle, work, isOfBatch }: Continuation,
): Promise<void> {
  if (held === undefined || resumedRun(held) === undefined)
    return work.begin(ctx, { messages: waiting, summarised: [] }, handle);
  if (!isOfBatch(held)) {
    await work.resume(ctx, held, { ...handle, takeSteering: () => ({ items: [], summarised: [] }) });
    return work.begin(ctx, { messages: waiting, summarised: [] }, handle);
  }
  const steering = [...waiting];
  await work.resume(ctx, held, {
    ...handle,
    takeSteering: () => {
      // These messages are older than everything that is waiting in the lane.
      const before = handle.signal.aborted ? [] : steering.splice(0);
      const { items, summarised } = handle.takeSteering();
      return { items: [...before, ...items], summarised };
    },
  });
  await work.begin(ctx, { messages: steering, summarised: [] }, handle);
}
