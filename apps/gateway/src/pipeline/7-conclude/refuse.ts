import { REPLY_TTL_MS } from "@signalbox/delivery";
import { failureEvent, failureNote, problemOf } from "@signalbox/telemetry";
import { getPhrases } from "../../configure/get-phrases.ts";
import type { GatewayContext } from "../../context.ts";
import type { QueuedMessage } from "../../messages/queued-message.ts";
import { putNotice } from "../notice.ts";
import { reportOutcome } from "../report-outcome.ts";

/** Finishes messages that no run can answer or that crashed the process, and sends a notice to their senders. */
export async function refuse(
  ctx: GatewayContext,
  messages: readonly QueuedMessage[],
  { code, message }: { readonly code: string; readonly message: string },
): Promise<void> {
  for (const refused of messages) {
    const phrases = getPhrases(ctx, refused);
    const isSetUp = code !== "no_model" && code !== "no_agent";
    const notice = isSetUp ? failureNote(code, phrases) : phrases.failed.notSetUp;
    const { id, sessionKey, stored } = refused;
    // Clients that read the session directly see the failure there.
    await ctx.exchanges.keep(sessionKey, [refused], {
      id,
      text: notice,
      outcome: "failed",
      error: problemOf({ code, message }),
    });
    const rows = await putNotice(ctx, refused, notice, { ttlMs: REPLY_TTL_MS, isAnswer: true });
    ctx.delivery.deliver(rows ?? []);
    await ctx.store.inbox.settle(id, "failed-reported", { rule: code, reason: message });
    reportOutcome(ctx, id, { state: "failed", text: "", error: { code, message } });
    ctx.live.publish(sessionKey, failureEvent(id, { code, message }));
    const answers = [stored.event.messageId];
    ctx.live.publish(sessionKey, { type: "run.end", runId: id, answers, outcome: "failed" });
  }
  await ctx.crashes.end(messages);
}
