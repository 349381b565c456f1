import type { AgentMessage, RunUsage as LoopUsage, RunResult } from "@signalbox/agent-core";
import type { InboxSettle, RunId } from "@signalbox/store";
import type { RunEnd } from "../live.ts";
import type { Outcome } from "../service.ts";
import { outboxRow, repeatable } from "./outbox.ts";
import { composeReply, type Ending, outboundOf } from "./reply.ts";
import type { RunOptions } from "./run.ts";
import type { MessageTicket } from "./ticket.ts";
import { clientUsage, journalUsage } from "./usage.ts";

/** A reply that could not be delivered for so long is reported instead of sent. */
const REPLY_TTL_MS = 24 * 60 * 60 * 1000;

/** How a run that ended of itself is told to people and programs. */
export interface Conclusion {
  readonly outcome: "completed" | "failed" | "aborted" | "poisoned";
  readonly state: "replied" | "silent" | "failed-reported";
  readonly rule?: string;
  readonly reply: { readonly text: string; readonly silent: boolean; readonly replyTo?: string };
  readonly end: RunEnd;
  readonly truncated?: boolean;
  readonly error?: { readonly code: string; readonly message: string };
  readonly used?: LoopUsage;
}

export async function conclude(
  options: RunOptions,
  scope: {
    readonly runId: RunId;
    readonly sessionKey: string;
    readonly tickets: readonly MessageTicket[];
    readonly sentByTool: readonly string[];
  },
  result: RunResult,
  held: readonly AgentMessage[],
  texts: readonly string[],
): Promise<void> {
  const reply = composeReply(texts, endingOf(result), scope.sentByTool);
  const base = { reply, used: result.used, ...(result.reason === "cut" ? { truncated: true } : {}) };
  const conclusion: Conclusion =
    result.reason === "error"
      ? {
          ...base,
          outcome: "failed",
          state: "failed-reported",
          rule: result.error?.code ?? "error",
          end: "failed",
          error: errorOf(result),
        }
      : result.reason === "aborted"
        ? {
            ...base,
            outcome: "aborted",
            state: "silent",
            rule: "stopped",
            end: "aborted",
            reply: { text: "", silent: true },
          }
        : reply.silent
          ? { ...base, outcome: "completed", state: "silent", end: "silent" }
          : { ...base, outcome: "completed", state: "replied", end: "replied" };
  await finish(options, scope, conclusion, held);
}

/** Commits the end of a run with everything that follows from it, then lets it be delivered. */
export async function finish(
  options: RunOptions,
  {
    runId,
    sessionKey,
    tickets,
  }: { readonly runId: RunId; readonly sessionKey: string; readonly tickets: readonly MessageTicket[] },
  conclusion: Conclusion,
  messages: readonly AgentMessage[] = [],
): Promise<void> {
  const { store, lease, live, tracer, now } = options;
  const { reply, used } = conclusion;
  const usage = used && clientUsage(used);
  const last = tickets.at(-1);
  const account = last && options.account(last.stored.event.channel, last.stored.event.account);
  const outbox =
    !last || reply.silent || !account
      ? []
      : [
          outboxRow(
            last.stored.event,
            outboundOf(
              reply.text,
              reply.replyTo ?? last.stored.event.messageId,
              account.definition.capabilities,
            ),
            {
              expiresAt: now() + REPLY_TTL_MS,
              claim: repeatable(account),
            },
          ),
        ];
  const detail = conclusion.rule === undefined ? {} : { detail: { rule: conclusion.rule } };
  const inbox: InboxSettle[] = tickets.map((ticket) => ({
    id: ticket.id,
    state: conclusion.state,
    ...detail,
  }));
  const rows = await store.runs.finish({
    runId,
    lease,
    outcome: conclusion.outcome,
    inbox,
    messages,
    outbox,
    ...(used === undefined ? {} : { usage: journalUsage(used) }),
    ...(conclusion.error === undefined ? {} : { error: conclusion.error.message }),
  });
  options.deliver(rows);
  for (const ticket of tickets) {
    tracer.note(
      ticket.id,
      "reply",
      `${conclusion.state}: ${reply.text.length} characters`,
      conclusion.rule === undefined ? undefined : { rule: conclusion.rule },
    );
  }
  if (!reply.silent) {
    live.publish(sessionKey, {
      type: "message",
      message: { id: runId, role: "assistant", text: reply.text, at: now(), runId },
    });
  }
  live.publish(sessionKey, {
    type: "run.end",
    runId,
    messageIds: tickets.map((ticket) => ticket.stored.event.messageId),
    outcome: conclusion.end,
    ...(usage === undefined ? {} : { usage }),
    ...(conclusion.error === undefined ? {} : { error: conclusion.error }),
  });
  const outcome: Outcome = {
    state: conclusion.end,
    runId,
    text: conclusion.end === "failed" ? "" : reply.text,
    ...(conclusion.truncated === undefined ? {} : { truncated: conclusion.truncated }),
    ...(usage === undefined ? {} : { usage }),
    ...(conclusion.error === undefined ? {} : { error: conclusion.error }),
  };
  for (const ticket of tickets) options.onOutcome(ticket.id, outcome);
}

/** Messages whose agent cannot work get their end, and their senders a word, without a run. */
export async function failWithoutRun(
  options: RunOptions,
  tickets: readonly MessageTicket[],
  code: string,
  agentId: string,
): Promise<void> {
  const message =
    code === "no_model"
      ? `The agent ${agentId} has no usable model. Give its provider a key, or configure another model.`
      : `There is no working agent ${agentId}.`;
  options.logger.error({ agent: agentId, code }, message);
  for (const ticket of tickets) {
    const { event } = ticket.stored;
    const account = options.account(event.channel, event.account);
    if (account) {
      const payload = outboundOf(
        "Sorry, this agent is not set up to answer. Its operator can see why in the log.",
        event.messageId,
        account.definition.capabilities,
      );
      const row = outboxRow(event, payload, { expiresAt: options.now() + REPLY_TTL_MS, claim: false });
      options.deliver(
        await options.store.outbox.enqueue([row], { lease: options.lease, sessionKey: ticket.sessionKey }),
      );
    }
    await options.store.inbox.settle(ticket.id, "failed-reported", { rule: code, reason: message });
    options.onOutcome(ticket.id, { state: "failed", text: "", error: { code, message } });
    options.live.publish(ticket.sessionKey, {
      type: "run.end",
      runId: ticket.id,
      messageIds: [event.messageId],
      outcome: "failed",
      error: { code, message },
    });
  }
}

function errorOf(result: RunResult): { code: string; message: string } {
  const { error } = result;
  if (!error) return { code: "model", message: "The model failed." };
  const attempts = (error.attempts ?? []).map((one) => `${one.provider}/${one.model}: ${one.message}`);
  return {
    code: error.code,
    message: attempts.length > 1 ? `${error.message} (${attempts.join("; ")})` : error.message,
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
      return { note: `Sorry, I could not answer: ${publicReason(result)}` };
  }
}

/** Why a model failed, in words that give no detail of the operator's set-up away. */
function publicReason(result: RunResult): string {
  switch (result.error?.code) {
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
