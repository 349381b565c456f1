import type { AgentMessage, EndReasonRule, RunUsage as LoopUsage } from "@signalbox/agent-core";
import type { MediaPart } from "@signalbox/channel";
import {
  createFinalReply,
  createOutboxRow,
  isRepeatableAfterCrash,
  type OutboxRow,
  REPLY_TTL_MS,
} from "@signalbox/delivery";
import type { Reply } from "@signalbox/prompt";
import type { RunOutcome } from "@signalbox/protocol";
import { addRunUsage, toClientUsage, toJournalUsage, toModelUsage } from "@signalbox/runs";
import type { OutcomeError } from "@signalbox/server";
import type { InboxSettle, RunId, ToldEntry } from "@signalbox/store";
import { failureNote, problemOf } from "@signalbox/telemetry";
import { getPhrases } from "../../configure/get-phrases.ts";
import type { GatewayContext } from "../../context.ts";
import { DELETED, isVisible, type QueuedMessage } from "../../messages/queued-message.ts";
import { isOfConversation } from "../../messages/traces.ts";
import type { BegunRun } from "../5-prepare/opened-run.ts";
import { toDeletionNote } from "../5-prepare/user-messages.ts";

/** A reply with attachments that are ready to be sent. */
export interface ReadyReply extends Reply {
  readonly attached?: readonly MediaPart[];
}

/** The end of a run in the form in which it is stored and reported. */
export interface Conclusion {
  readonly outcome: "completed" | "failed" | "aborted" | "poisoned";
  readonly state: "replied" | "silent" | "failed-reported";
  readonly rule?: string;
  /** Details of the outcome for the run's record. */
  readonly reason?: string;
  readonly reply: ReadyReply;
  /** Reason why the reply is only an error notice. */
  readonly failure?: "internal" | "no_agent" | "poison";
  readonly end: RunOutcome;
  /** Default: `stop`. */
  readonly finishReason?: EndReasonRule["finishReason"];
  readonly error?: OutcomeError;
  readonly used?: LoopUsage;
  /** The last messages of the run, which are committed together with its end. */
  readonly messages?: readonly AgentMessage[];
  /** Group history that the model has read. */
  readonly told?: readonly ToldEntry[];
}

/** A run whose end is committed, with all its consequences. */
export interface Concluded {
  readonly run: BegunRun;
  readonly conclusion: Conclusion;
  /** The stored reply. Silent if every message was deleted. */
  readonly reply: Reply;
  readonly end: RunOutcome;
  /** Usage of the whole run, including earlier processes. */
  readonly used: LoopUsage | undefined;
  /** The message that the reply answers. */
  readonly answered: QueuedMessage | undefined;
  readonly inbox: readonly InboxSettle[];
  /** True if the sender reads the session directly, so that nothing is delivered. */
  readonly shown: boolean;
  readonly rows: readonly OutboxRow[];
}

const SILENCE: Reply = { text: "", silent: true };

/** Returns the conclusion of a run that a person stopped. */
export const STOPPED_RUN: Conclusion = {
  outcome: "aborted",
  state: "silent",
  rule: "stopped",
  reply: SILENCE,
  end: "aborted",
};

/** Returns the conclusion of a run that cannot continue. */
export function failedRun(code: "internal" | "no_agent" | "poison", message?: string): Conclusion {
  return {
    outcome: code === "poison" ? "poisoned" : "failed",
    state: "failed-reported",
    rule: code,
    reply: SILENCE,
    failure: code,
    end: "failed",
    error: { code, message: message ?? failureNote(code) },
  };
}

/** Ends a run that cannot continue, with a notice for the person who wrote last. */
function translate(ctx: GatewayContext, conclusion: Conclusion, to: QueuedMessage | undefined): Conclusion {
  if (conclusion.failure === undefined) return conclusion;
  const text = failureNote(conclusion.failure, to && getPhrases(ctx, to));
  return { ...conclusion, reply: { text, silent: false, note: text } };
}

/** Commits the end of a run in one transaction that covers the inbox, the history and the outbox. */
export async function commit(ctx: GatewayContext, run: BegunRun, given: Conclusion): Promise<Concluded> {
  const { store, lease, now } = ctx;
  const { runId, messages } = run;
  const isLeft = ({ id }: QueuedMessage): boolean => !run.handle.recalled.has(id);
  const seen = { draft: await ctx.drafts.end(runId), blocks: await ctx.blocks.end(runId) };
  // Answer the last message that was not deleted. If all were deleted, use the last one in order to withdraw its draft.
  const answered = messages.findLast(isLeft) ?? messages.at(-1);
  const conclusion = translate(ctx, given, answered);
  const event = answered?.stored.event;
  const channel = event && ctx.getChannel(event.channel, event.account);
  const replyTo = await answeredId(ctx, answered, conclusion.reply);
  const used = addRunUsage(run.usedBefore, conclusion.used);
  // Messages that the model has read must not be answered by later turns.
  const isRead = messages.every(({ order }) => order === undefined || order.kind === "turn");
  await storeExchange(ctx.exchanges, run, conclusion, { isRead, used });
  // There must be no `await` between here and the commit, so that a deletion is either seen here or happens after the
  // end.
  const gone = !messages.some(isLeft);
  const { told, error } = conclusion;
  const outcome = gone ? "aborted" : conclusion.outcome;
  const reply: ReadyReply = gone ? SILENCE : conclusion.reply;
  const payload = createFinalReply({
    ...reply,
    stopped: outcome === "aborted" && !gone ? answered && getPhrases(ctx, answered).stoppedMark : undefined,
    shown: seen,
    replyTo,
    capabilities: channel?.capabilities,
  });
  const claim = channel !== undefined && isRepeatableAfterCrash(channel);
  const outbox =
    event && payload ? [createOutboxRow(event, payload, { expiresAt: now() + REPLY_TTL_MS, claim })] : [];
  const inbox = messages.map((message) => toSettlement(message, isLeft(message), conclusion));
  const unnoted = gone && isRead ? messages.filter(({ id }) => run.notedDeletions?.has(id) !== true) : [];
  const noted = unnoted.length > 0 ? [toDeletionNote(ctx, unnoted)] : [];
  const rows = await store.runs.finish({
    runId,
    lease,
    outcome,
    inbox,
    messages: [...(conclusion.messages ?? []), ...noted],
    outbox,
    // The reply of a failed or stopped run may not have been delivered.
    told: told === undefined || outcome !== "completed" ? undefined : told,
    usage: used === undefined ? undefined : toJournalUsage(used),
    models: used === undefined ? undefined : toModelUsage(used),
    error: error?.message,
  });
  const end = gone ? "aborted" : conclusion.end;
  const shown = channel?.capabilities.readsSession === true && replyTo !== undefined && !reply.silent;
  return { run, conclusion, reply, used, answered, inbox, rows, end, shown };
}

/**
 * Stores data of a run that the history lacks but viewers may read later.
 *
 * @param isRead true if the run's messages are in the history. Commands are not, because the model never reads them.
 */
async function storeExchange(
  exchanges: GatewayContext["exchanges"],
  { runId, sessionKey, messages }: BegunRun,
  { reply: { note }, end, error }: Conclusion,
  { isRead, used }: { readonly isRead: boolean; readonly used: LoopUsage | undefined },
): Promise<void> {
  const [first] = messages;
  if (first === undefined) return;
  if (isRead) {
    if (note !== undefined) await exchanges.addNote(sessionKey, first.stored.event, { runId, text: note });
    return;
  }
  const text = note === undefined ? {} : { text: note };
  await exchanges.keep(sessionKey, messages, {
    id: runId,
    ...text,
    outcome: end,
    usage: used === undefined ? undefined : toClientUsage(used),
    error: error === undefined ? undefined : problemOf(error),
  });
}

/** Ends an interrupted run whose messages are all damaged. Otherwise, it would block its session forever. */
export async function endDamagedRun({ store, lease }: GatewayContext, runId: RunId): Promise<void> {
  const adopted = await store.runs.adopt({ runId, lease });
  if (adopted === undefined) return;
  const error = "The content of its messages is missing in the database.";
  await store.runs.finish({ runId, lease, outcome: "failed", inbox: [], error });
}

function toSettlement(
  { id }: QueuedMessage,
  isLeft: boolean,
  { state, rule, reason }: Conclusion,
): InboxSettle {
  if (!isLeft) return { id, state: "ignored", detail: { rule: DELETED } };
  const detail = { rule, reason };
  return { id, state, detail: rule === undefined ? undefined : detail };
}

/**
 * Returns the id of the message that a reply answers. This is the message that the model chose if it belongs to this
 * conversation, because platforms place a reply in the conversation of the answered message.
 *
 * @throws ReplyTargetError if the conversation must not get a reply
 */
async function answeredId(
  { store }: GatewayContext,
  answered: QueuedMessage | undefined,
  { replyTo }: Reply,
): Promise<string | undefined> {
  if (answered === undefined || !isVisible(answered)) return undefined;
  const { event } = answered.stored;
  if (replyTo === undefined) return event.messageId;
  return (await isOfConversation(store, event, replyTo)) ? replyTo : event.messageId;
}
