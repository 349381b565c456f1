import type { AgentMessage, RunUsage as LoopUsage, RunResult } from "@signalbox/agent-core";
import type { MayAttach } from "@signalbox/attachments";
import { isRepeatable, outboxKey, outboxRow, withDraft } from "@signalbox/delivery";
import type { RunHandle } from "@signalbox/lanes";
import { parseReply } from "@signalbox/prompt";
import type { RunOutcome } from "@signalbox/protocol";
import type { Outcome, OutcomeError } from "@signalbox/server";
import type { InboxSettle, RunId } from "@signalbox/store";
import { shownMessage } from "../../hooks/own.ts";
import { isOfConversation } from "../../store.ts";
import { DELETED, type MessageTicket, type Ticket } from "../4-queue/message.ts";
import type { RunOptions } from "../5-prepare/open-run.ts";
import type { ToldHistory } from "../5-prepare/prompt.ts";
import { failureEvent, noteId } from "../live-events.ts";
import { answerTo, composeReply, type Ending, type Reply } from "../reply-text.ts";
import { ShutdownAbort } from "../shutdown.ts";
import { clientUsage, journalUsage } from "./usage.ts";

/** A reply that could not be delivered for so long is reported instead of sent. */
const REPLY_TTL_MS = 24 * 60 * 60 * 1000;

/** The run that ends. */
export interface Ended {
  readonly runId: RunId;
  readonly sessionKey: string;
  readonly tickets: readonly MessageTicket[];
  /** What it told its model of the group's history. */
  readonly told?: ToldHistory | undefined;
  /** Which of its messages were deleted on their platform. */
  readonly handle?: Pick<RunHandle<Ticket>, "recalled">;
}

const STOPPED = "(stopped)";

/** How a run that ended of itself is told to people and programs. */
export interface Conclusion {
  readonly outcome: "completed" | "failed" | "aborted" | "poisoned";
  readonly state: "replied" | "silent" | "failed-reported";
  readonly rule?: string;
  readonly reply: Reply;
  readonly end: RunOutcome;
  readonly truncated?: boolean;
  readonly error?: OutcomeError;
  readonly used?: LoopUsage;
}

/** The end of a run that somebody stopped. */
export const STOPPED_RUN: Conclusion = {
  outcome: "aborted",
  state: "silent",
  rule: "stopped",
  reply: { text: "", silent: true },
  end: "aborted",
};

export async function conclude(
  options: RunOptions,
  scope: Ended & {
    readonly sentByTool: readonly string[];
    readonly mayAttach: MayAttach;
    readonly handle: Pick<RunHandle<Ticket>, "signal" | "recalled">;
  },
  result: RunResult,
  held: readonly AgentMessage[],
  texts: readonly string[],
): Promise<void> {
  const carries = carriesMedia(options, scope.tickets);
  const said = composeReply(texts, endingOf(result), scope.sentByTool, carries);
  const failure = said.silent ? unspokenFailure(result, texts, scope.sentByTool) : undefined;
  const composed = failure === undefined ? said : composeReply([], { note: failure }, []);
  const left = result.reason === "aborted" ? composed : await asHooksLeaveIt(options, scope, composed);
  const ready = result.reason === "aborted" ? left : await withMedia(options, scope, left);
  if (ready === undefined && scope.handle.signal.reason instanceof ShutdownAbort) {
    for (const ticket of scope.tickets)
      options.tracer.note(ticket.id, "lane", "stopped with the gateway; goes on at the next start");
    return;
  }
  const reply = ready ?? left;
  const base = { reply, used: result.used, ...(result.reason === "cut" ? { truncated: true } : {}) };
  const conclusion: Conclusion =
    result.reason === "error" && ready !== undefined
      ? {
          ...base,
          outcome: "failed",
          state: "failed-reported",
          rule: result.error?.code ?? "error",
          end: "failed",
          error: errorOf(result),
        }
      : result.reason === "aborted" || ready === undefined
        ? { ...base, ...STOPPED_RUN }
        : reply.silent
          ? { ...base, outcome: "completed", state: "silent", end: "silent" }
          : { ...base, outcome: "completed", state: "replied", end: "replied" };
  await finish(options, scope, conclusion, held);
}

/**
 * What people are told of a run that ended without a word after the tools it called last had failed: they would wait
 * for an answer that does not come. Nothing where the model chose to be silent, or its tool has spoken for it. The
 * error itself may hold anything, so only the tools are named.
 */
function unspokenFailure(
  { reason, messages }: RunResult,
  texts: readonly string[],
  sentByTool: readonly string[],
): string | undefined {
  if (reason !== "done" || sentByTool.length > 0 || texts.some((text) => parseReply(text).silent))
    return undefined;
  const results: string[] = [];
  for (const message of messages.toReversed()) {
    if (message.role === "toolResult") {
      if (message.isError) results.unshift(message.toolName);
    } else if (message.role !== "assistant" || message.content.some(({ type }) => type === "toolCall")) break;
  }
  const failed = [...new Set(results)];
  return failed.length === 0
    ? undefined
    : `(I have no answer: ${failed.join(", ")} did not work. Ask again, or ask for something else.)`;
}

async function asHooksLeaveIt(
  { hooks }: RunOptions,
  { sessionKey, tickets }: { readonly sessionKey: string; readonly tickets: readonly MessageTicket[] },
  reply: Reply,
): Promise<Reply> {
  const last = tickets.at(-1);
  if (last === undefined || reply.silent) return reply;
  const { agentId, stored } = last;
  const asked = { agentId, sessionKey, event: stored.event, source: "turn", text: reply.text } as const;
  const { text } = await hooks.modify("before_reply", asked);
  // A text that a hook took away takes what was attached to it along.
  return { ...reply, text, silent: text === "" && (reply.text !== "" || reply.wanted === undefined) };
}

/** Whether attachments can be sent to who asked. */
export function carriesMedia({ definition }: RunOptions, tickets: readonly MessageTicket[]): boolean {
  const event = tickets.at(-1)?.stored.event;
  return (
    event !== undefined && definition(event.channel, event.account)?.capabilities.sendMedia !== undefined
  );
}

/**
 * The reply with its attachments ready to be sent, and a line for each that cannot be. Undefined where the run was
 * stopped meanwhile.
 */
async function withMedia(
  options: RunOptions,
  {
    tickets,
    mayAttach,
    handle,
  }: {
    readonly tickets: readonly MessageTicket[];
    readonly mayAttach: MayAttach;
    readonly handle: { readonly signal: AbortSignal };
  },
  reply: Reply,
): Promise<Reply | undefined> {
  const last = tickets.at(-1);
  const agent = last && options.agents.get(last.agentId);
  const { wanted } = reply;
  const channel = last && options.definition(last.stored.event.channel, last.stored.event.account);
  if (wanted === undefined || reply.silent || agent === undefined || channel === undefined) return reply;
  const { capabilities } = channel;
  const ready = await options.mediaOut.prepare(wanted, agent.id, capabilities, mayAttach, handle.signal);
  if (ready === undefined) return undefined;
  const { parts, lines } = ready;
  const text = [reply.text, lines.join("\n")].filter((one) => one !== "").join("\n\n");
  return { ...reply, text, attached: parts };
}

/** Commits the end of a run with everything that follows from it, then lets it be delivered. */
export async function finish(
  options: RunOptions,
  { runId, sessionKey, tickets, told, handle }: Ended,
  conclusion: Conclusion,
  messages: readonly AgentMessage[] = [],
): Promise<void> {
  const { store, lease, live, tracer, now } = options;
  const { used } = conclusion;
  const usage = used && clientUsage(used);
  const isLeft = ({ id }: MessageTicket): boolean => handle?.recalled.has(id) !== true;
  const draft = await options.drafts.end(runId);
  // It answers the last message that is still there; a draft of one that is not goes from where it is.
  const last = tickets.findLast(isLeft) ?? tickets.at(-1);
  const channel = last && options.definition(last.stored.event.channel, last.stored.event.account);
  const replyTo = last && (await answered(options, last, conclusion.reply));
  // From here to the commit nothing waits: a deletion is either known here, or comes after the end.
  const gone = !tickets.some(isLeft);
  const reply: Reply = gone ? { text: "", silent: true } : conclusion.reply;
  // What people have read of a turn that was stopped is not taken away from them.
  const stopped =
    conclusion.outcome === "aborted" && !gone && draft?.text ? `${draft.text}\n\n${STOPPED}` : undefined;
  const answer =
    last === undefined || replyTo === undefined || (reply.silent && stopped === undefined)
      ? undefined
      : answerTo(stopped ?? reply.text, replyTo, channel?.capabilities, reply.attached);
  const payload = withDraft(answer, draft?.reference);
  const claim = channel !== undefined && isRepeatable(channel);
  const outbox =
    last && payload
      ? [outboxRow(last.stored.event, payload, { expiresAt: now() + REPLY_TTL_MS, claim })]
      : [];
  const detail = conclusion.rule === undefined ? {} : { detail: { rule: conclusion.rule } };
  const inbox = tickets.map((ticket): InboxSettle => {
    const { id } = ticket;
    return isLeft(ticket)
      ? { id, state: conclusion.state, ...detail }
      : { id, state: "ignored", detail: { rule: DELETED } };
  });
  // The model has read them; later turns are not to answer them either.
  const read = tickets.every(({ order }) => order === undefined || order.kind === "turn");
  const noted = gone && read && tickets.length > 0 ? [options.prompts.takenBack(tickets)] : [];
  const rows = await store.runs.finish({
    runId,
    lease,
    outcome: gone ? "aborted" : conclusion.outcome,
    inbox,
    messages: [...messages, ...noted],
    outbox,
    // What a failed or stopped run was told may not have reached anybody.
    ...(told === undefined || gone || conclusion.outcome !== "completed" ? {} : { told }),
    ...(used === undefined ? {} : { usage: journalUsage(used) }),
    ...(conclusion.error === undefined ? {} : { error: conclusion.error.message }),
  });
  options.deliver(rows);
  options.drafts.settled(runId);
  for (const { id, state, detail: said } of inbox)
    tracer.note(id, "reply", `${state}: ${reply.text.length} characters`, said && { ...said });
  if (reply.note !== undefined) {
    // The turns themselves were shown as they came.
    live.publish(sessionKey, {
      type: "message",
      message: { id: noteId(runId), role: "assistant", text: reply.note, at: now(), runId },
    });
  }
  const messageIds = tickets.map((ticket) => ticket.stored.event.messageId);
  const end: RunOutcome = gone ? "aborted" : conclusion.end;
  if (last !== undefined) {
    if (payload === undefined && !reply.silent)
      options.hooks.observe("message_sent", shownMessage(last, runId, reply.text));
    options.hooks.observe("run_end", {
      agentId: last.agentId,
      sessionKey,
      runId,
      messageIds,
      outcome: end,
      usage,
      error: conclusion.error,
    });
  }
  if (conclusion.error !== undefined) live.publish(sessionKey, failureEvent(conclusion.error));
  live.publish(sessionKey, {
    type: "run.end",
    runId,
    outcome: end,
    ...(usage === undefined ? {} : { usage }),
    answers: messageIds,
  });
  const outcome: Outcome = {
    state: end,
    runId,
    text: end === "failed" ? "" : reply.text,
    ...(conclusion.truncated === undefined ? {} : { truncated: conclusion.truncated }),
    ...(usage === undefined ? {} : { usage }),
    ...(conclusion.error === undefined ? {} : { error: conclusion.error }),
  };
  for (const ticket of tickets) options.onOutcome(ticket.id, outcome);
}

/**
 * The message a reply answers: the one the model chose, but only one of this very conversation, since platforms put an
 * answer wherever the answered message is.
 */
async function answered(
  { store }: RunOptions,
  { stored: { event } }: MessageTicket,
  { replyTo }: Reply,
): Promise<string> {
  if (replyTo === undefined) return event.messageId;
  return (await isOfConversation(store, event, replyTo)) ? replyTo : event.messageId;
}

/** Messages that no run can answer, or which ended the process, get their end, and their senders a word. */
export async function failWithoutRun(
  options: RunOptions,
  tickets: readonly MessageTicket[],
  { code, message }: { readonly code: string; readonly message: string },
): Promise<void> {
  const word =
    code === "no_model" || code === "no_agent"
      ? "Sorry, this agent is not set up to answer. Its operator can see why in the log."
      : failureNote(code);
  for (const ticket of tickets) {
    const { event } = ticket.stored;
    const payload = answerTo(
      word,
      event.messageId,
      options.definition(event.channel, event.account)?.capabilities,
    );
    if (payload) {
      const row = outboxRow(event, payload, { expiresAt: options.now() + REPLY_TTL_MS, claim: false });
      // The key comes from the message: tried again after a crash it is the same word.
      const rows = [{ ...row, key: outboxKey(ticket.id), answers: [ticket.id] }];
      options.deliver(
        await options.store.outbox.enqueue(rows, { lease: options.lease, sessionKey: ticket.sessionKey }),
      );
    }
    await options.store.inbox.settle(ticket.id, "failed-reported", { rule: code, reason: message });
    options.onOutcome(ticket.id, { state: "failed", text: "", error: { code, message } });
    options.live.publish(ticket.sessionKey, failureEvent({ code, message }));
    options.live.publish(ticket.sessionKey, {
      type: "run.end",
      runId: ticket.id,
      outcome: "failed",
      answers: [event.messageId],
    });
  }
}

function errorOf(result: RunResult): OutcomeError {
  const { error } = result;
  if (!error) return { code: "model", message: "The model failed." };
  const attempts = (error.attempts ?? []).map((one) => `${one.provider}/${one.model}: ${one.message}`);
  return {
    code: error.code,
    message: attempts.length > 1 ? `${error.message} (${attempts.join("; ")})` : error.message,
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
  };
}

/** What a person is told about an end that is not simply the model's. */
function endingOf(result: RunResult): Ending {
  switch (result.reason) {
    case "done":
    case "aborted":
      return "complete";
    case "cut":
      return "cut";
    case "refusal":
    case "filter":
      return result.text.trim() === "" ? { note: "The model declined to answer." } : "complete";
    case "limit":
      return { note: `(Stopped: this run reached its limit of ${result.limit ?? "work"}.)` };
    case "repeated":
      return { note: "(Stopped: the same step was tried over and over.)" };
    case "waiting":
      return { note: "(Waiting for an approval.)" };
    case "error":
      return { note: failureNote(result.error?.code) };
  }
}

/** What people are told of a run that failed, by the rule it ended with. */
export function failureNote(rule: string | undefined): string {
  switch (rule) {
    case "poison":
      return "Your message made me stop working several times, so I set it aside. Please put it another way.";
    case "no_agent":
      return "The agent of this conversation cannot work any more.";
    case "internal":
      return "Sorry, something went wrong inside the gateway. Its log says what.";
    default:
      return `Sorry, I could not answer: ${publicReason(rule)}`;
  }
}

/** Why a model failed, in words that give no detail of the operator's set-up away. */
function publicReason(code: string | undefined): string {
  switch (code) {
    case "auth":
    case "billing":
      return "the model's provider refuses this gateway's account. Its operator has to look at it.";
    case "rate_limit":
    case "overloaded":
      return "the model's provider is overloaded. Please try again in a while.";
    case "overflow":
      return "this conversation is longer than the model can take. Start a new one with /new.";
    case "network":
    case "timeout":
      return "the model's provider cannot be reached. Please try again in a while.";
    default:
      return "the model's provider answered with an error. Please try again.";
  }
}
