import type { UserMessage } from "@signalbox/agent-core";
import { getSpeakerKey } from "@signalbox/channel";
import type { RunHandle } from "@signalbox/lanes";
import { createClientHistory } from "@signalbox/prompt";
import type { History } from "@signalbox/runs";
import {
  type RunBegin,
  type RunBegun,
  type RunId,
  type Session,
  type SessionSeed,
  StoreError,
} from "@signalbox/store";
import { failureNote } from "@signalbox/telemetry";
import type { GatewayContext } from "../../context.ts";
import { getPlainText, type Queued, type QueuedMessage } from "../../messages/queued-message.ts";
import { sessionSeed } from "../../messages/session-seed.ts";
import type { GatewayBodies } from "../../store.ts";
import { chooseModel } from "./choose-model.ts";
import type { NewMessages, Opened, OpenedRun, Spoken } from "./opened-run.ts";
import { toSummary, toUserMessages } from "./user-messages.ts";

/** Chooses the agent and the model, updates the session, and records the start of a run. */
export async function openRun(
  ctx: GatewayContext,
  given: NewMessages,
  handle: RunHandle<Queued>,
): Promise<Opened> {
  const { store, crashes, logger } = ctx;
  const { messages, summarised } = given;
  const last = messages.at(-1);
  if (last === undefined) return { kind: "nothing" };
  const { sessionKey } = last;
  const spent = await crashes.findPoisoned(messages);
  if (spent.length > 0) return poisoned(ctx, given, spent);
  const session = await store.sessions.get(sessionKey);
  if (session?.activeRun !== undefined) throw heldBy(sessionKey, session.activeRun);
  const chosen = await chooseModel(ctx, last, session);
  if (chosen.kind === "none") {
    const { code, message } = chosen;
    logger.error({ agent: last.agentId, code }, message);
    return { kind: "refused", messages: [...summarised, ...messages], code, message };
  }
  const seed = sessionSeed(last, getPlainText(last));
  const fresh = await freshen(ctx, last, session, seed);
  if (fresh.isReset) {
    const { messageId } = (messages[0] ?? last).stored.event;
    ctx.live.publish(sessionKey, { type: "reset", messageId });
  }
  const history = await ctx.histories.load(sessionKey, fresh.session);
  const { provider, id } = chosen.agentModel.model;
  const sender = getSpeakerKey(last.stored.event);
  const started = await begin(ctx, given, handle, {
    session: seed,
    sender,
    meta: { model: `${provider}/${id}` },
  });
  await crashes.end(messages);
  return started === undefined
    ? { kind: "nothing" }
    : { kind: "run", run: newRun(started, chosen, history, handle) };
}

function newRun(
  { begun, input, spoken, left }: Started,
  { agent, agentModel }: Pick<OpenedRun, "agent" | "agentModel">,
  history: History,
  handle: RunHandle<Queued>,
): OpenedRun {
  const { run, session } = begun;
  const first = session.lastSeq - input.length + 1;
  return {
    runId: run.id,
    sessionKey: session.key,
    agent,
    agentModel,
    handle,
    input,
    spoken,
    messages: left,
    generation: session.generation,
    sessionData: session.data,
    history: history.messages,
    seqs: [...history.seqs, ...input.map((_, index) => first + index)],
    calls: [],
    earlier: [],
    sentByTool: [],
    notedDeletions: new Set(),
  };
}

/** Returns the messages that were in progress during several crashes. They do not get another run. */
function poisoned(
  { logger }: GatewayContext,
  { messages, summarised }: NewMessages,
  spent: readonly QueuedMessage[],
): Opened {
  const ids = spent.map(({ id }) => id);
  const session = spent[0]?.sessionKey;
  logger.error({ session, messages: ids }, "messages crashed the process several times and are given up");
  const left = messages.filter((message) => !spent.includes(message));
  return {
    kind: "refused",
    messages: spent,
    code: "poison",
    message: failureNote("poison"),
    left: left.length > 0 ? { messages: left, summarised } : { messages: summarised, summarised: [] },
  };
}

interface Freshened {
  readonly session: Session | undefined;
  readonly isReset: boolean;
}

/** Starts a new history if the session is due for a reset, and stores the earlier turns that a client sent. */
async function freshen(
  { store, lease, router, toolbox, now }: GatewayContext,
  message: QueuedMessage,
  session: Session | undefined,
  seed: SessionSeed,
): Promise<Freshened> {
  const { sessionKey, order, stored } = message;
  const { event } = stored;
  const fresh = order?.kind === "turn" && order.fresh;
  if (session === undefined) {
    if (fresh || event.turn?.history === undefined) return { session, isReset: false };
    await store.sessions.ensure(seed);
    await store.sessions.append(sessionKey, createClientHistory(event.turn, event.timestamp), lease);
    return { session: await store.sessions.get(sessionKey), isReset: false };
  }
  const times = { lastMessageAt: session.updatedAt, now: now() };
  if (!fresh && !router().isResetDue(event.conversation.kind, times)) return { session, isReset: false };
  await store.sessions.reset(sessionKey, lease);
  await toolbox.endCommands(sessionKey);
  return { session: await store.sessions.get(sessionKey), isReset: true };
}

interface Started {
  readonly begun: Extract<RunBegun, { outcome: "started" }>;
  readonly input: readonly UserMessage[];
  readonly spoken: readonly Spoken[];
  /** The messages that were not deleted in the meantime. */
  readonly left: QueuedMessage[];
}

/** Begins the run. Returns undefined if every message was deleted in the meantime. */
async function begin(
  ctx: GatewayContext,
  { messages, summarised }: NewMessages,
  handle: RunHandle<Queued>,
  opening: Pick<RunBegin<GatewayBodies>, "session" | "sender" | "meta">,
): Promise<Started | undefined> {
  const { store, lease } = ctx;
  const isLeft = ({ id }: QueuedMessage): boolean => !handle.recalled.has(id);
  await ctx.crashes.begin(messages);
  for (;;) {
    const left = [...summarised, ...messages].filter(isLeft);
    if (left.length === 0) return undefined;
    const short = summarised.filter(isLeft);
    const spoken = await toUserMessages(ctx, messages.filter(isLeft));
    // A message may have been deleted in the meantime. There must be no `await` between this check and `begin`.
    if (!left.every(isLeft)) continue;
    const all = short.length > 0 ? [toSummary(ctx, short), ...spoken] : spoken;
    const inboxIds = left.map(({ id }) => id);
    const begun = await store.runs.begin({ ...opening, lease, inboxIds, userMessages: all });
    if (begun.outcome === "busy") throw heldBy(opening.session.key, begun.run.id);
    const firstSpoken = begun.session.lastSeq - spoken.length + 1;
    return { input: all, spoken: pairs(messages.filter(isLeft), spoken, firstSpoken), begun, left };
  }
}

function heldBy(sessionKey: string, runId: RunId): StoreError {
  return new StoreError("busy", `the session ${sessionKey} is busy with the run ${runId}`);
}

function pairs(messages: readonly QueuedMessage[], said: readonly UserMessage[], first: number): Spoken[] {
  return messages.flatMap((message, index) => {
    const words = said[index];
    return words === undefined ? [] : [{ message, words, place: first + index }];
  });
}
