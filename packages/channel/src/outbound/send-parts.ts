import { ChannelError, isChannelError } from "../contract/errors.ts";
import type { Outbound, OutboundPart, PartReceipt, Receipt, SendOptions } from "../contract/messages.ts";

/** One part to be sent. */
export interface PartToSend {
  readonly part: OutboundPart;
  readonly index: number;
  /** The same at every try of this part: at most 24 characters. */
  readonly key: string;
  /** The message it answers; only the first part has one. */
  readonly replyTo: string | undefined;
}

/**
 * The `send` of a channel that only knows how to send one part: it begins at `startAt`, reports each part before it
 * tries the next, and adds the receipt of the sent parts to an error.
 * @param sendPart resolves with the platform's id of the message
 */
export async function sendParts(
  message: Outbound,
  options: Pick<SendOptions, "idempotencyKey" | "startAt" | "onPart">,
  sendPart: (part: PartToSend) => Promise<string>,
): Promise<Receipt> {
  const { idempotencyKey, startAt = 0, onPart } = options;
  const parts: PartReceipt[] = [];
  for (const [index, part] of message.parts.entries()) {
    if (index < startAt) continue;
    const key = partKey(idempotencyKey, index);
    const replyTo = index === 0 ? message.replyTo : undefined;
    const messageId = await carryingReceipt(parts, () => sendPart({ part, index, key, replyTo }));
    parts.push({ index, messageId });
    await onPart?.({ index, messageId });
  }
  return { parts };
}

/** What takes the place of one message. @throws ChannelError `invalid` where it is none, or more than one */
export function theOnePart({ parts: [part, ...more] }: Outbound): OutboundPart {
  if (part === undefined || more.length > 0)
    throw new ChannelError("invalid", "An edit replaces one message by one part");
  return part;
}

/** The idempotency key of one part of a message. */
export function partKey(idempotencyKey: string, index: number): string {
  return `${idempotencyKey}.${index}`;
}

/** Does the work; a ChannelError that it throws tells of the parts that were out before. */
export async function carryingReceipt<T>(sent: readonly PartReceipt[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isChannelError(error) || sent.length === 0) throw error;
    const parts = [...sent, ...(error.receipt?.parts ?? [])];
    throw new ChannelError(error.code, error.message, {
      scope: error.scope,
      retryAfterMs: error.retryAfterMs,
      platformCode: error.platformCode,
      receipt: { parts },
      cause: error,
    });
  }
}
