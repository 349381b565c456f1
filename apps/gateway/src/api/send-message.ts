import { randomUUID } from "node:crypto";
import { createAnswer, createOutboxKey, createOutboxRow, REPLY_TTL_MS } from "@signalbox/delivery";
import { ApiError } from "@signalbox/server";
import type { GatewayContext } from "../context.ts";
import { explainClosed } from "../messages/reply-windows.ts";

/**
 * Sends a text to the conversation of a session, in the name of the bot.
 *
 * @param sender recorded in the audit log
 * @throws ApiError if the session does not exist or cannot receive messages
 */
export async function sendMessage(
  ctx: GatewayContext,
  sessionKey: string,
  text: string,
  sender: string,
): Promise<void> {
  const { store, lease, delivery, audit, redact, now } = ctx;
  // A session has no address. The latest message of its conversation has one.
  const [latest] = await store.inbox.list({ limit: 1, sessionKey });
  const event = latest?.payload.event;
  if (event === undefined)
    throw new ApiError("not_found", `There is no conversation ${sessionKey}.`, {
      remedy: "list_conversations lists their keys.",
    });
  const { channel, account, address } = event;
  const capabilities = ctx.getCapabilities(channel, account);
  if (capabilities === undefined || ctx.isOwnChannel(channel))
    throw new ApiError("conflict", `Nobody can be written to on the channel ${channel}.`);
  const closed = await ctx.replyWindows.findClosed({ channel, account, address });
  if (closed !== undefined) throw new ApiError("conflict", explainClosed(closed));
  const payload = createAnswer(redact(text), "", capabilities);
  if (payload === undefined) throw new ApiError("bad_request", "The text has nothing to send.");
  const row = createOutboxRow(event, payload, { expiresAt: now() + REPLY_TTL_MS, claim: false });
  await store.outbox.enqueue([{ ...row, key: createOutboxKey("sent", randomUUID()) }], { lease, sessionKey });
  audit.operation({ action: "sent", subject: `message to ${sessionKey}` }, sender);
  delivery.wake();
}
