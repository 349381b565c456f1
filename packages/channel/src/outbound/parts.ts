import { ChannelError, isChannelError } from "../contract/errors.ts";
import type { Outbound, OutboundPart, PartReceipt, Receipt, SendOptions } from "../contract/messages.ts";
import { sendPlainerIfRefused } from "./plainer-form.ts";

/** A part to send. */
export interface PartToSend {
  readonly part: OutboundPart;
  readonly index: number;
  /** The part's idempotency key: at most 24 characters, the same for every attempt. */
  readonly key: string;
  /** The message that the part replies to. Set only for the first part. */
  readonly replyTo: string | undefined;
}

/**
 * Implements `send` with a function that sends one part. Starts at `startAt`, calls `onPart` after each part, and adds
 * the receipt of the sent parts to errors. A part that the platform refuses is sent again in a plainer form: Markdown
 * as plain text, media as a file, and without the reply.
 *
 * @param sendPart sends a part and returns the platform's id of the message
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
    const key = getPartKey(idempotencyKey, index);
    const replyTo = index === 0 ? message.replyTo : undefined;
    const messageId = await withReceipt(parts, () =>
      sendPlainerIfRefused({ part, replyTo }, (form) => sendPart({ ...form, index, key })),
    );
    parts.push({ index, messageId });
    await onPart?.({ index, messageId });
  }
  return { parts };
}

/**
 * Returns the only part of an edit, which replaces a single message.
 *
 * @throws ChannelError `invalid` unless there is exactly one part
 */
export function getSinglePart({ parts: [part, ...more] }: Outbound): OutboundPart {
  if (part === undefined || more.length > 0)
    throw new ChannelError("invalid", "An edit must have exactly one part");
  return part;
}

/** Returns the idempotency key of a part. */
export function getPartKey(idempotencyKey: string, index: number): string {
  return `${idempotencyKey}.${index}`;
}

/** Adds a receipt of the parts sent so far to a ChannelError of `work`. */
export async function withReceipt<T>(sent: readonly PartReceipt[], work: () => Promise<T>): Promise<T> {
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
