import { reasonOf } from "@signalbox/agent-core";
import type { DeletedEvent, EditedEvent, EmitResult, InboundEvent } from "@signalbox/channel";
import type { RunHandle } from "@signalbox/lanes";
import type { InterruptedRun, JsonValue } from "@signalbox/store";
import type { GatewayContext } from "../context.ts";
import { classifyFailure } from "../messages/failures.ts";
import { type Queued, queuedMessage, resumedRun } from "../messages/queued-message.ts";
import type { GatewayBodies } from "../store.ts";
import type { EmitTrigger, TriggerTerms } from "../triggers/trigger.ts";
import { type ReceivedMessage, receive } from "./1-receive/receive.ts";
import { admit } from "./2-admit/admit.ts";
import {
  type Accepted,
  type AcceptOutcome,
  accept,
  publishMessage,
  recoverAccepted,
} from "./3-accept/accept.ts";
import { reportGap } from "./3-accept/report-gap.ts";
import { endUnanswered } from "./3-accept/unanswered.ts";
import { applyDeletion, applyEdit, findChanged, type NewlyAddressed } from "./4-queue/edits.ts";
import { enqueue } from "./4-queue/queue.ts";
import { openRun } from "./5-prepare/open-run.ts";
import {
  type BegunRun,
  begunRun,
  type NewMessages,
  type Opened,
  type OpenedRun,
  type Unfinished,
} from "./5-prepare/opened-run.ts";
import { prepare } from "./5-prepare/prepare.ts";
import { resumeRun } from "./5-prepare/resume-run.ts";
import { run } from "./6-run/run.ts";
import { type Conclusion, commit, endDamagedRun, failedRun, STOPPED_RUN } from "./7-conclude/commit.ts";
import { conclude } from "./7-conclude/conclude.ts";
import { refuse } from "./7-conclude/refuse.ts";
import { deliver } from "./8-deliver/deliver.ts";
import { endNotDelivered } from "./8-deliver/not-delivered.ts";
import { answerCommand, resumeCommand } from "./commands/run-commands.ts";

/*
 * The pipeline has two parts. Ingress ends in the lane of the session, and processing starts there.
 *
 *     InboundEvent → receive → Received → admit → Admitted → accept → Accepted → queue
 *     Batch → open, resume → OpenedRun → prepare → PreparedRun → run → RunEnded → conclude → Concluded → deliver
 *
 * Each stage takes the context and the value of the stage before it, and returns the next value. Rare ends branch off:
 * unanswered messages after `accept`, commands that need no run in `queue`, unanswerable messages after `open`.
 */

/**
 * Ingress: accepts an event from a channel.
 *
 * @param wasOpen true for an edit of a message that had not ended when another node received the edit
 * @returns after the message is on disk. The platform may only be acknowledged then.
 */
export async function emit(
  ctx: GatewayContext,
  event: InboundEvent,
  wasOpen: boolean = false,
): Promise<EmitResult> {
  const received = receive(ctx, event);
  if (received.kind === "none") return "accepted";
  if (received.kind === "gap") return reportGap(ctx, received.event);
  if (received.kind === "delivery") return endNotDelivered(ctx, received.event);
  if (received.kind === "message") {
    ctx.replyWindows.heard(received.event);
    return toEmitResult(await ctx.pending.track(received.event, takeMessage(ctx, received)));
  }
  // Channels emit concurrently, so the message itself may not be in the inbox yet.
  await ctx.pending.wait(received.event);
  return ctx.pending.change(received.event, () => takeChange(ctx, received.event, wasOpen));
}

/** Applies an edit or a deletion on the node that answers the message. */
async function takeChange(
  ctx: GatewayContext,
  event: EditedEvent | DeletedEvent,
  wasOpen: boolean,
): Promise<EmitResult> {
  const changed = ctx.sharedSeats && (await findChanged(ctx, event));
  if (changed !== undefined && !ctx.seats.isHere(changed.route.agentId, changed.route.sessionKey)) {
    const request = { kind: "change", event, wasOpen: wasOpen || changed.isOpen };
    const body: JsonValue = JSON.parse(JSON.stringify(request));
    await ctx.control.send({ ...changed.route, body });
    return "accepted";
  }
  if (event.type === "deleted") return applyDeletion(ctx, event);
  const edit = await applyEdit(ctx, event, wasOpen);
  if (typeof edit === "string") return edit;
  if ("event" in edit) return takeEdited(ctx, edit);
  await enterInOrder(ctx, edit.correction, edit.isOurs);
  return "accepted";
}

/** Accepts a message that addresses the agent since it was edited. */
async function takeEdited(ctx: GatewayContext, { event, as, taken }: NewlyAddressed): Promise<EmitResult> {
  const received = receive(ctx, event);
  if (received.kind !== "message") throw new TypeError("an edited message must be a message");
  const outcome = await takeMessage(ctx, { ...received, as });
  const id = outcome.outcome === "accepted" ? outcome.accepted.id : "id" in outcome ? outcome.id : undefined;
  if (id !== undefined) await taken(id);
  return toEmitResult(outcome);
}

function toEmitResult({ outcome }: AcceptOutcome): EmitResult {
  return outcome === "full" ? "rejected" : outcome;
}

/** Ingress for triggers. Repeating the same event results in the same message. */
export async function emitTrigger(
  ctx: GatewayContext,
  ...[event, terms]: Parameters<EmitTrigger>
): ReturnType<EmitTrigger> {
  const received = receive(ctx, event);
  if (received.kind !== "message") throw new TypeError("a trigger must be a message");
  const taken = await takeMessage(ctx, received, terms);
  if (taken.outcome === "full") return { outcome: "rejected" };
  const id = taken.outcome === "accepted" ? taken.accepted.id : taken.id;
  return { outcome: "taken", id };
}

async function takeMessage(
  ctx: GatewayContext,
  received: ReceivedMessage,
  terms?: TriggerTerms,
): Promise<AcceptOutcome> {
  const { metrics } = ctx;
  const admitted = await metrics.timed("route", () => admit(ctx, received.event, terms));
  const outcome = await metrics.timed("accept", () => accept(ctx, received, admitted));
  if (outcome.outcome !== "accepted") return outcome;
  await enterInOrder(ctx, outcome.accepted, outcome.isOurs);
  await outcome.onDisk;
  return outcome;
}

/**
 * Enters a message behind those that are being claimed, because they may precede it in its session.
 *
 * @param isOurs true if the message is reserved for this node
 */
async function enterInOrder(ctx: GatewayContext, accepted: Accepted, isOurs: boolean): Promise<void> {
  if (ctx.claiming.size > 0) await Promise.all(ctx.claiming);
  const isBehindClaimed = ctx.sharedSeats !== undefined && ctx.claimed.length > 0;
  if (isBehindClaimed && isOurs && accepted.decision.kind === "answer") {
    // They could not be queued, for example because the database was away. The next recovery queues all of them.
    ctx.claimed.push(accepted.id);
    ctx.store.hints.send(accepted.route.agentId);
  } else enter(ctx, accepted, isOurs);
}

/** @param isOurs true if the message is reserved for this node */
function enter(ctx: GatewayContext, accepted: Accepted, isOurs: boolean): void {
  const { decision, route } = accepted;
  const { agentId, sessionKey } = route;
  const isHere = isOurs && !ctx.passing.has(sessionKey) && ctx.seats.isHere(agentId, sessionKey);
  if (decision.kind === "answer" && !isHere) passOn(ctx, accepted, isOurs);
  else if (decision.kind === "answer") enqueue(ctx, queuedMessage(accepted));
  // Not awaited, because the next start repeats the decision after a crash.
  else void endUnanswered(ctx, accepted, decision);
}

/** Leaves a message to the node that runs its agent, or to this node's next claim, behind the earlier ones. */
function passOn(ctx: GatewayContext, { id, route }: Accepted, isOurs: boolean): void {
  const { store, lease, passing, claimed, logger } = ctx;
  const { agentId, sessionKey } = route;
  if (!isOurs) {
    store.hints.send(agentId);
    return;
  }
  const released = store.inbox.release([id], lease).catch((error: unknown) => {
    logger.warn({ message: id, err: reasonOf(error) }, "a message could not be passed to another node");
    // It is still reserved, so the next recovery of this node queues it or passes it on.
    claimed.push(id);
  });
  passing.set(sessionKey, Promise.all([passing.get(sessionKey), released]));
  void released.then(() => store.hints.send(agentId));
}

/**
 * Takes over work that no process holds, starting with runs, each before anything newer in its session. Called at
 * startup and at intervals, because another process's work becomes available when that process ends. Calls run one
 * after the other: a later one may claim messages that follow those of an earlier one in their session.
 */
export async function recover(ctx: GatewayContext): Promise<void> {
  const earlier = [...ctx.claiming];
  const { promise, resolve } = Promise.withResolvers<void>();
  ctx.claiming.add(promise);
  try {
    await Promise.all(earlier);
    await recoverAll(ctx);
  } finally {
    ctx.claiming.delete(promise);
    resolve();
  }
}

async function recoverAll(ctx: GatewayContext): Promise<void> {
  const { store, lease, lanes, userQuestions, queueModes, crashBlame, seats, passing } = ctx;
  await Promise.all(passing.values());
  passing.clear();
  // Load the questions from earlier processes, because a message may answer one of them.
  await userQuestions.load();
  const interruptedRuns = (await store.runs.interrupted(lease)).filter(({ run }) =>
    seats.isHere(run.agentId, run.sessionKey),
  );
  crashBlame.compare(interruptedRuns.map(({ run }) => run));
  for (const interrupted of interruptedRuns) {
    const resumed = resumedRun(interrupted);
    if (resumed === undefined) await endDamagedRun(ctx, interrupted.run.id);
    else if (!lanes.all(resumed.sessionKey).some(({ id }) => id === resumed.id)) lanes.enqueue(resumed);
  }
  for await (const accepted of recoverAccepted(ctx)) {
    await queueModes.read(accepted.route.sessionKey);
    // Another node may have accepted the message.
    if (ctx.liveRelay !== undefined && accepted.decision.kind === "answer") publishMessage(ctx, accepted);
    enter(ctx, accepted, true);
  }
}

/** Releases unfinished work for the next process. A clean stop does not count as a crash of any message. */
export async function release({ store, lease, waitingRuns, crashes }: GatewayContext): Promise<void> {
  // Items in the queue are counted separately and must not be subtracted twice.
  await waitingRuns.clearAll();
  await store.runs.rest(lease);
  await crashes.stopCleanly();
}

/** Processing: answers messages that have no run yet. Throws store errors. The journal remains authoritative. */
export async function begin(
  ctx: GatewayContext,
  messages: NewMessages,
  handle: RunHandle<Queued>,
): Promise<void> {
  const [first] = messages.messages;
  if (first?.order !== undefined && first.order.kind !== "turn") return answerCommand(ctx, first, handle);
  await proceed(ctx, await openRun(ctx, messages, handle), handle);
}

/** Processing: continues a run that is recorded. */
export async function resume(
  ctx: GatewayContext,
  interrupted: InterruptedRun<GatewayBodies>,
  handle: RunHandle<Queued>,
): Promise<void> {
  const resumed = resumedRun(interrupted);
  if (resumed !== undefined) await proceed(ctx, await resumeRun(ctx, resumed, handle), handle);
}

/** Finishes a run and messages that would fail repeatedly. */
export async function giveUp(
  ctx: GatewayContext,
  { held, waiting }: Unfinished,
  error: unknown,
): Promise<void> {
  const message = reasonOf(error);
  if (held !== undefined) await end(ctx, begunRun(ctx, held), failedRun("internal", message));
  await refuse(ctx, waiting, { code: "internal", message });
}

async function proceed(ctx: GatewayContext, opened: Opened, handle: RunHandle<Queued>): Promise<void> {
  switch (opened.kind) {
    case "nothing":
      return;
    case "run":
      return answer(ctx, opened.run);
    case "command": {
      const [message] = opened.run.messages;
      return message && resumeCommand(ctx, message, opened.handle, opened.interrupted);
    }
    case "over":
      return end(ctx, opened.run, opened.why === "taken_back" ? STOPPED_RUN : failedRun(opened.why));
    case "refused":
      await refuse(ctx, opened.messages, opened);
      return opened.left && begin(ctx, opened.left, handle);
  }
}

async function answer(ctx: GatewayContext, opened: OpenedRun): Promise<void> {
  const asked = opened.messages.at(-1);
  if (asked === undefined) return;
  const { metrics, logger } = ctx;
  try {
    const prepared = await metrics.timed("prepare", () => prepare(ctx, opened, asked));
    try {
      const ended = await run(ctx, prepared);
      const concluded = ended && (await metrics.timed("conclude", () => conclude(ctx, ended)));
      if (concluded === undefined) return leaveOpen(ctx, opened);
      await metrics.timed("deliver", () => deliver(ctx, concluded));
    } finally {
      prepared.tools.end();
    }
  } catch (error) {
    if (classifyFailure(error, 0) !== "give_up") throw error;
    logger.error({ run: opened.runId, err: reasonOf(error) }, "a run failed inside the gateway");
    await end(ctx, opened, failedRun("internal", reasonOf(error)));
  }
}

async function end(ctx: GatewayContext, begun: BegunRun, conclusion: Conclusion): Promise<void> {
  deliver(ctx, await commit(ctx, begun, conclusion));
}

function leaveOpen({ tracer }: GatewayContext, { messages }: OpenedRun): void {
  for (const { id } of messages)
    tracer.note(id, "run", "stopped with the gateway; continues at the next start");
}
