import { phrasesIn } from "@signalbox/phrases";
import { getNoteId, toClientUsage, toJournalUsage } from "@signalbox/runs";
import type { Outcome } from "@signalbox/server";
import { failureEvent } from "@signalbox/telemetry";
import type { GatewayContext } from "../../context.ts";
import { shownMessage } from "../../hooks/message-sent.ts";
import type { Concluded } from "../7-conclude/commit.ts";
import { reportOutcome } from "../report-outcome.ts";

/** Starts the delivery of committed rows and notifies viewers and waiting clients. */
export function deliver(
  ctx: GatewayContext,
  { run, conclusion, reply, end, used, answered, inbox, shown, rows }: Concluded,
): void {
  const { live, hooks } = ctx;
  const { runId, sessionKey, messages } = run;
  ctx.delivery.deliver(rows);
  ctx.drafts.complete(runId);
  ctx.blocks.complete(runId);
  const spent = used === undefined ? "" : `; ${phrasesIn("en").usage(toJournalUsage(used))}`;
  const replied = `${reply.text.length} characters${spent}`;
  for (const { id, state, detail } of inbox)
    ctx.tracer.note(id, "conclude", `${state}: ${replied}`, detail && { ...detail });
  if (reply.note !== undefined) {
    // Viewers have already seen the texts of the turns.
    const note = {
      id: getNoteId(runId),
      role: "assistant",
      text: reply.note,
      at: ctx.now(),
      runId,
    } as const;
    live.publish(sessionKey, { type: "message", message: note });
  }
  const messageIds = messages.map(({ stored }) => stored.event.messageId);
  const { error, finishReason } = conclusion;
  const usage = used && toClientUsage(used);
  if (answered !== undefined) {
    if (shown) hooks.observe("message_sent", shownMessage(answered, runId, reply.text));
    const place = { agentId: answered.agentId, sessionKey, runId, messageIds };
    const models = (used?.models ?? []).map(({ provider, model, ...of }) => ({
      model: `${provider}/${model}`,
      ...toClientUsage(of),
    }));
    hooks.observe("run_end", { ...place, outcome: end, usage, models, error });
  }
  if (error !== undefined) live.publish(sessionKey, failureEvent(runId, error));
  const withUsage = usage === undefined ? {} : { usage };
  live.publish(sessionKey, { type: "run.end", runId, outcome: end, ...withUsage, answers: messageIds });
  const outcome: Outcome = {
    state: end,
    runId,
    text: end === "failed" ? "" : reply.text,
    finishReason,
    ...withUsage,
    error,
  };
  for (const { id } of messages) reportOutcome(ctx, id, outcome);
}
