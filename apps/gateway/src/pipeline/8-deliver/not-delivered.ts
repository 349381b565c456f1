import type { DeliveryEvent, EmitResult } from "@signalbox/channel";
import type { OutboxRow } from "@signalbox/delivery";
import { createUndeliveredBody, getUndeliveredKey } from "@signalbox/prompt";
import type { GatewayContext } from "../../context.ts";

const MAX_REASON_CHARS = 500;

/**
 * Ends the reply of a message that its platform accepted but did not deliver. The next run of the session that sent it
 * is informed.
 *
 * @returns `rejected` if the reply is still being sent, so that the channel reports it again
 */
export async function endNotDelivered(ctx: GatewayContext, event: DeliveryEvent): Promise<EmitResult> {
  const { channel, account, address, messageId, code } = event;
  const reason = ctx
    .redact(event.reason.replace(/\s+/g, " ").trim())
    .slice(0, MAX_REASON_CHARS)
    .toWellFormed();
  const report = { channel, account, address, messageId, reason };
  const row = await ctx.delivery.notDelivered(code === undefined ? report : { ...report, code });
  if (row === "busy") return "rejected";
  if (row === undefined)
    ctx.logger.debug({ channel, account, messageId }, "no reply for a failed message was found");
  // Repeated if the process ends before the event is acknowledged.
  else await informNextRun(ctx, row, { messageId, reason });
  return "accepted";
}

async function informNextRun(
  { store, now }: GatewayContext,
  { sessionKey, payload }: OutboxRow,
  { messageId, reason }: Pick<DeliveryEvent, "messageId" | "reason">,
): Promise<void> {
  if (sessionKey === undefined || payload.notice === true) return;
  const text = payload.parts.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n\n");
  await store.groupHistory.push(getUndeliveredKey(sessionKey), {
    id: messageId,
    senderId: "",
    body: createUndeliveredBody(text, reason),
    at: now(),
  });
}
