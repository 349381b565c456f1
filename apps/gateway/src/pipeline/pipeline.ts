import { reasonOf } from "@signalbox/agent-core";
import type { DeletedEvent, EditedEvent, EmitResult, InboundEvent, MessageEvent } from "@signalbox/channel";
import type { RunHandle } from "@signalbox/lanes";
import type { InterruptedRun } from "@signalbox/store";
import type { Metrics } from "@signalbox/telemetry";
import type { Logger } from "@signalbox/telemetry/logger";
import type { GatewayBodies } from "../store.ts";
import type { Tracer } from "../traces.ts";
import type { WakeAgent, WakeTerms } from "../triggers/wake.ts";
import type { Receive, ReceivedMessage } from "./1-receive/receive.ts";
import type { Admit } from "./2-admit/admit.ts";
import type { Accept, Accepted, AcceptOutcome } from "./3-accept/accept.ts";
import type { Unanswered } from "./3-accept/unanswered.ts";
import type { NewlyAddressed } from "./4-queue/edits.ts";
import { type Queued, type QueuedMessage, type ReadOrder, resumedRun } from "./4-queue/message.ts";
import { type Queue, queuedMessage } from "./4-queue/queue.ts";
import type { OpenRun } from "./5-prepare/open-run.ts";
import {
  type BegunRun,
  begunRun,
  type NewMessages,
  type Opened,
  type OpenedRun,
} from "./5-prepare/opened-run.ts";
import type { Prepare } from "./5-prepare/prepare.ts";
import type { TakeUp } from "./5-prepare/take-up.ts";
import type { Run } from "./6-run/run.ts";
import { type Commit, type Conclusion, failedRun, STOPPED_RUN } from "./7-conclude/commit.ts";
import type { Conclude } from "./7-conclude/conclude.ts";
import type { Refuse } from "./7-conclude/refuse.ts";
import type { Deliver } from "./8-deliver/deliver.ts";
import type { Left } from "./answer.ts";
import { judgeFailure } from "./failures.ts";

/**
 * The way of a message, in two halves between which it waits in its lane.
 *
 *     InboundEvent → receive → Received → admit → Admitted → accept → Accepted → queue
 *     Batch → open, take up → OpenedRun → prepare → PreparedRun → run → RunEnded → conclude → Concluded → deliver
 *
 * Each stage takes the value of the stage before it and ports of its own, and returns the next value. Rare ends branch
 * off: what nobody is to answer ends behind `accept`, a command that needs no turn in `queue`, messages that no run can
 * answer behind `open`.
 */
export interface TakingStages {
  readonly receive: Receive;
  readonly admit: Admit;
  readonly accept: Accept;
  readonly unanswered: Unanswered;
  readonly edits: {
    edited(event: EditedEvent): Promise<EmitResult | NewlyAddressed>;
    deleted(event: DeletedEvent): Promise<EmitResult>;
  };
  readonly queue: Pick<Queue, "expect" | "enter">;
  readonly metrics: Pick<Metrics, "timed">;
}

/** The stages behind the lane. */
export interface AnsweringStages {
  /** Commands that need a run, instead of the stages from here on. */
  readonly commands: {
    answer(message: QueuedMessage, handle: RunHandle<Queued>): Promise<void>;
    goOn(
      message: QueuedMessage,
      handle: RunHandle<Queued>,
      interrupted: InterruptedRun<GatewayBodies>,
    ): Promise<void>;
  };
  readonly open: OpenRun;
  readonly takeUp: TakeUp;
  readonly readOrder: ReadOrder;
  readonly prepare: Prepare;
  readonly run: Run;
  readonly conclude: Conclude;
  readonly commit: Commit;
  readonly refuse: Refuse;
  readonly deliver: Deliver;
  readonly metrics: Pick<Metrics, "timed">;
  readonly tracer: Tracer;
  readonly logger: Logger;
}

/** The first half of the way: from the channel to the lane. */
export interface Taking {
  /** From the channel to the lane. Resolves when the message is on the disk; only then is its platform told. */
  take(event: InboundEvent): Promise<EmitResult>;
  /** The same for what the gateway itself says to an agent. The same event again is the same message. */
  readonly wake: WakeAgent;
  /** Continues with a message that an earlier process accepted. */
  goOn(accepted: Accepted): Promise<void>;
}

export function createTaking(stages: TakingStages): Taking {
  const { metrics } = stages;
  const pending = createPendingMessages();

  const take: Taking["take"] = async (event) => {
    const received = stages.receive(event);
    if (received.kind === "none") return "accepted";
    if (received.kind === "message")
      return emitResult(await pending.while(received.event, takeMessage(received)));
    // Channels emit concurrently, so the message itself may still be on its way into the inbox.
    await pending.end(received.event);
    if (received.kind === "deleted") return stages.edits.deleted(received.event);
    const edit = await stages.edits.edited(received.event);
    return typeof edit === "string" ? edit : takeEdited(edit);
  };

  /** Takes a message that addresses the agent since it was edited. */
  const takeEdited = async ({ event, as, taken }: NewlyAddressed): Promise<EmitResult> => {
    const received = stages.receive(event);
    if (received.kind !== "message") throw new TypeError("a message is received as one");
    const outcome = await takeMessage({ ...received, as });
    const id =
      outcome.outcome === "accepted" ? outcome.accepted.id : "id" in outcome ? outcome.id : undefined;
    if (id !== undefined) await taken(id);
    return emitResult(outcome);
  };

  const takeMessage = async (received: ReceivedMessage, terms?: WakeTerms): Promise<AcceptOutcome> => {
    const admitted = await metrics.timed("route", () => stages.admit(received.event, terms));
    await stages.queue.expect(admitted.place.sessionKey);
    const outcome = await metrics.timed("accept", () => stages.accept(received, admitted));
    if (outcome.outcome !== "accepted") return outcome;
    enter(outcome.accepted);
    await outcome.onDisk;
    return outcome;
  };

  const wake: Taking["wake"] = async (event, terms) => {
    const received = stages.receive(event);
    if (received.kind !== "message") throw new TypeError("a message is received as one");
    const taken = await takeMessage(received, terms);
    if (taken.outcome === "full") return { outcome: "rejected" };
    const id = taken.outcome === "accepted" ? taken.accepted.id : taken.id;
    return { outcome: "taken", ...(id === undefined ? {} : { id }) };
  };

  const goOn: Taking["goOn"] = async (accepted) => {
    await stages.queue.expect(accepted.route.sessionKey);
    enter(accepted);
  };

  const enter = (accepted: Accepted): void => {
    const { id, stored, decision } = accepted;
    if (decision.kind === "answer") stages.queue.enter(queuedMessage(accepted));
    // Nobody waits for this: after a crash it is decided again.
    else void stages.unanswered.end(id, stored, decision.kind, decision.rule);
  };

  return { take, wake, goOn };
}

type NamedMessage = Pick<MessageEvent, "channel" | "account" | "messageId">;

/** Messages that are on their way into the inbox. */
interface PendingMessages {
  /** Counts the message as pending until `work` has ended. */
  while<T>(message: NamedMessage, work: Promise<T>): Promise<T>;
  /** Resolves when the message is no longer pending. */
  end(message: NamedMessage): Promise<void>;
}

function createPendingMessages(): PendingMessages {
  const pending = new Map<string, Promise<unknown>>();
  const keyOf = ({ channel, account, messageId }: NamedMessage): string =>
    JSON.stringify([channel, account, messageId]);
  return {
    async while(message, work) {
      const key = keyOf(message);
      pending.set(key, work);
      try {
        return await work;
      } finally {
        if (pending.get(key) === work) pending.delete(key);
      }
    },
    async end(message) {
      await pending.get(keyOf(message))?.catch(() => {});
    },
  };
}

function emitResult({ outcome }: AcceptOutcome): EmitResult {
  return outcome === "full" ? "rejected" : outcome;
}

/** The second half: from the lane to the outbox. Throws what a failing store throws; the journal is the truth then. */
export interface Answering {
  /** Answers messages that have no run yet. */
  begin(given: NewMessages, handle: RunHandle<Queued>): Promise<void>;
  /** The same for a run that is on record. */
  goOn(interrupted: InterruptedRun<GatewayBodies>, handle: RunHandle<Queued>): Promise<void>;
  /** Ends what would fail again and again. */
  giveUp(left: Left, error: unknown): Promise<void>;
}

export function createAnswering(stages: AnsweringStages): Answering {
  return {
    begin: (given, handle) => begin(stages, given, handle),
    goOn: (interrupted, handle) => goOn(stages, interrupted, handle),
    async giveUp({ held, waiting }, error) {
      const message = reasonOf(error);
      if (held !== undefined)
        await end(stages, begunRun(held, stages.readOrder), failedRun("internal", message));
      await stages.refuse(waiting, { code: "internal", message });
    },
  };
}

async function begin(stages: AnsweringStages, given: NewMessages, handle: RunHandle<Queued>): Promise<void> {
  const [first] = given.messages;
  if (first?.order !== undefined && first.order.kind !== "turn") return stages.commands.answer(first, handle);
  await goOnWith(stages, await stages.open(given, handle), handle);
}

async function goOn(
  stages: AnsweringStages,
  interrupted: InterruptedRun<GatewayBodies>,
  handle: RunHandle<Queued>,
): Promise<void> {
  const resumed = resumedRun(interrupted);
  if (resumed === undefined) return;
  await goOnWith(stages, await stages.takeUp(resumed, handle), handle);
}

async function goOnWith(stages: AnsweringStages, opened: Opened, handle: RunHandle<Queued>): Promise<void> {
  switch (opened.kind) {
    case "nothing":
      return;
    case "run":
      return answer(stages, opened.run);
    case "command": {
      const [message] = opened.run.messages;
      return message && stages.commands.goOn(message, opened.handle, opened.interrupted);
    }
    case "over":
      return end(stages, opened.run, opened.why === "taken-back" ? STOPPED_RUN : failedRun(opened.why));
    case "refused":
      await stages.refuse(opened.messages, opened);
      return opened.left && begin(stages, opened.left, handle);
  }
}

async function answer(stages: AnsweringStages, run: OpenedRun): Promise<void> {
  const asked = run.messages.at(-1);
  if (asked === undefined) return;
  const { metrics, tracer, logger } = stages;
  try {
    const prepared = await metrics.timed("prepare", () => stages.prepare(run, asked));
    try {
      const ended = await stages.run(prepared);
      const concluded = ended && (await metrics.timed("conclude", () => stages.conclude(ended)));
      if (concluded === undefined) return leaveOpen(tracer, run);
      await metrics.timed("deliver", () => stages.deliver(concluded));
    } finally {
      prepared.tools.end();
    }
  } catch (error) {
    if (judgeFailure(error, 0) !== "give_up") throw error;
    logger.error({ run: run.runId, err: reasonOf(error) }, "a run failed inside the gateway");
    await end(stages, run, failedRun("internal", reasonOf(error)));
  }
}

async function end(
  { commit, deliver }: AnsweringStages,
  run: BegunRun,
  conclusion: Conclusion,
): Promise<void> {
  deliver(await commit(run, conclusion));
}

function leaveOpen(tracer: Tracer, { messages }: OpenedRun): void {
  for (const { id } of messages)
    tracer.note(id, "lane", "stopped with the gateway; goes on at the next start");
}
