import {
  type ChannelContext,
  getPartKey,
  isChannelError,
  type ReconcileResult,
  type SendIntent,
} from "@signalbox/channel";
import type { WecomAddress } from "../address.ts";
import { isReplyExpired, isStreamEnded } from "../errors.ts";
import { renderPart } from "./markdown.ts";
import { findReqId, type Sender } from "./send.ts";

/**
 * Determines whether a part was sent. WeCom has no history. But a reply can be sent again: its stream has our id, so
 * WeCom replaces the content of an existing message or refuses to change it. In both cases there is one message
 * afterwards. Other messages have no such id.
 */
export async function reconcile(
  { clock, sender }: Pick<ChannelContext, "clock"> & { readonly sender: Sender },
  { idempotencyKey, part, content, replyTo }: SendIntent<WecomAddress>,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const reqId = findReqId(replyTo, clock.now());
  if (reqId === undefined || content.type === "media") return { outcome: "unknown" };
  const messageId = getPartKey(idempotencyKey, part);
  try {
    await sender.putStream(reqId, { id: messageId, content: renderPart(content), finish: true }, signal);
    return { outcome: "sent", messageId };
  } catch (error) {
    if (isStreamEnded(error)) return { outcome: "sent", messageId };
    // The first attempt may have arrived before the message expired, or may have been sent as a separate message.
    if (isReplyExpired(error) || (isChannelError(error) && error.code === "invalid"))
      return { outcome: "unknown" };
    throw error;
  }
}
