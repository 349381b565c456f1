import { REPLY_TTL_MS } from "@signalbox/delivery";
import type { RunOutcome } from "@signalbox/protocol";
import { getNoteId } from "@signalbox/runs";
import type { GatewayContext } from "../../context.ts";
import { shownMessage } from "../../hooks/message-sent.ts";
import type { QueuedMessage } from "../../messages/queued-message.ts";
import { putNotice } from "../notice.ts";
import { reportOutcome } from "../report-outcome.ts";

/** The outcome of a command. */
export interface CommandEnd {
  /** Name of the command without the slash. */
  readonly name: string;
  readonly text: string;
  /** Reason why the command did nothing, for the trace. */
  readonly refused?: string;
  /** True if the command started a new history. */
  readonly begins?: boolean;
}

/** Sends a command's answer and completes its message. Repeating this after a crash is safe. */
export async function completeCommand(
  ctx: GatewayContext,
  message: QueuedMessage,
  end: CommandEnd,
): Promise<void> {
  const { store, live, tracer } = ctx;
  const { stored, sessionKey, agentId, id } = message;
  const { event } = stored;
  const { text } = await ctx.hooks.modify("before_reply", {
    agentId,
    sessionKey,
    event,
    source: "command",
    text: end.text,
  });
  const silent = text === "";
  const state: RunOutcome = silent ? "silent" : "replied";
  const begins = end.begins === true;
  await ctx.exchanges.keep(sessionKey, [message], {
    id,
    text: silent ? undefined : text,
    outcome: state,
    begins,
  });
  const rows = silent ? [] : await putNotice(ctx, message, text, { ttlMs: REPLY_TTL_MS, isAnswer: true });
  const rule = `command:${end.name}`;
  const reason = end.refused === undefined ? {} : { reason: end.refused };
  await store.inbox.settle(id, silent ? "silent" : "replied", { rule, ...reason });
  // Complete the message last, because a failure to store the answer changes its outcome.
  ctx.delivery.deliver(rows ?? []);
  tracer.note(id, "conclude", end.refused ?? `answered without a model, ${text.length} characters`, { rule });
  if (begins) live.publish(sessionKey, { type: "reset", messageId: event.messageId });
  if (!silent) {
    live.publish(sessionKey, {
      type: "message",
      message: { id: getNoteId(id), role: "assistant", text, at: ctx.now(), runId: id },
    });
    if (rows === undefined) ctx.hooks.observe("message_sent", shownMessage(message, undefined, text));
  }
  live.publish(sessionKey, {
    type: "run.end",
    runId: id,
    answers: [event.messageId],
    outcome: state,
  });
  reportOutcome(ctx, id, { state, runId: id, text });
}
