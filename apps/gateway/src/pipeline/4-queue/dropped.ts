import type { LanesOptions } from "@signalbox/lanes";
import { getNoteId } from "@signalbox/runs";
import { getPhrases } from "../../configure/get-phrases.ts";
import type { GatewayContext } from "../../context.ts";
import { classifyPermanentFailure } from "../../messages/failures.ts";
import { messagesIn, type Queued, type QueuedMessage } from "../../messages/queued-message.ts";
import { putNotice } from "../notice.ts";
import { reportOutcome } from "../report-outcome.ts";

/** Time to live of a notice about a full queue, in milliseconds. */
const NOTICE_TTL_MS = 60 * 60 * 1000;

type Dropped = Parameters<NonNullable<LanesOptions<Queued>["onDropped"]>>;

/** Finishes messages that get no run, because too many were waiting or because a person stopped them. */
export function endDropped(ctx: GatewayContext, ...[items, why]: Dropped): void {
  const notified = why.kind === "full" ? why.first : [];
  for (const dropped of messagesIn(items)) {
    const { id, sessionKey, stored } = dropped;
    const rule = why.kind === "full" ? "queue_full" : "stopped";
    const notice =
      why.kind === "full" && notified.includes(dropped)
        ? getPhrases(ctx, dropped).tooManyWait(why.drop, why.cap)
        : undefined;
    void ctx.supervisor.run({
      name: `end the message ${id}, which gets no run`,
      attempt: () => end(ctx, dropped, rule, notice),
      retryPolicy: classifyPermanentFailure,
    });
    const what =
      why.kind === "full" ? "dropped: too many messages wait in this conversation" : "dropped by a stop";
    ctx.tracer.note(id, "queue", what);
    const error = { code: rule, message: `The message was ${what}.` };
    reportOutcome(ctx, id, { state: "ignored", text: "", error });
    const answers = [stored.event.messageId];
    ctx.live.publish(sessionKey, { type: "run.end", runId: id, answers, outcome: "aborted" });
  }
}

async function end(
  ctx: GatewayContext,
  dropped: QueuedMessage,
  rule: string,
  notice: string | undefined,
): Promise<void> {
  const { id, sessionKey } = dropped;
  await ctx.exchanges.keep(sessionKey, [dropped], { id, text: notice, outcome: "aborted" });
  if (notice !== undefined) await send(ctx, dropped, notice);
  await ctx.store.inbox.settle(id, "ignored", { rule });
}

async function send(ctx: GatewayContext, dropped: QueuedMessage, text: string): Promise<void> {
  const rows = await putNotice(ctx, dropped, text, { ttlMs: NOTICE_TTL_MS, isAnswer: false });
  if (rows !== undefined) return ctx.delivery.deliver(rows);
  const { id, sessionKey } = dropped;
  const message = { id: getNoteId(id), role: "assistant", text, at: ctx.now(), runId: id } as const;
  ctx.live.publish(sessionKey, { type: "message", message });
}
