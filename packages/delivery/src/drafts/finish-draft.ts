import {
  type Channel,
  ChannelError,
  type ChannelErrorCode,
  type Draft,
  isChannelError,
  type Outbound,
  type Receipt,
  type SendOptions,
} from "@signalbox/channel";
import type { DeliveryMessage, DraftReference } from "../outbox.ts";

/** Errors that would recur if the request were repeated. The message is then sent without the draft. */
const PERMANENT: ReadonlySet<ChannelErrorCode> = new Set([
  "permission",
  "not_found",
  "unsupported",
  "invalid",
  "too_large",
]);

/** Sends a message, or its parts from `startAt`. */
export type Send = (to: unknown, message: Outbound, options: SendOptions) => Promise<Receipt>;

/** Combines a reply with the draft of its run. Without a reply, the message only removes the draft. */
export function withDraft(
  reply: Outbound | undefined,
  draft: DraftReference | undefined,
): DeliveryMessage | undefined {
  if (draft === undefined) return reply;
  return reply === undefined ? { parts: [], draft } : { ...reply, draft };
}

/**
 * Turns the draft into the first part of the message and sends the other parts, or removes the draft if the message has
 * no parts. Can be repeated without sending a second message.
 *
 * @returns `undefined` if the draft cannot become the message; in that case it is removed if possible
 * @throws ChannelError as `send` does
 */
export async function finishDraft(
  running: Channel,
  to: unknown,
  { draft, ...message }: DeliveryMessage,
  options: SendOptions,
  { now, send }: { readonly now: number; readonly send: Send },
): Promise<Receipt | undefined> {
  if (draft === undefined || running.openDraft === undefined) return undefined;
  const nothingToSend = message.parts.length === 0 ? { parts: [] } : undefined;
  // Without a message id, only the key identifies the draft, and the key has expired.
  if (draft.messageId === undefined && now >= draft.until) return nothingToSend;
  const opened = await unlessPermanent(
    running.openDraft(to, {
      idempotencyKey: draft.key,
      signal: options.signal,
      messageId: draft.messageId,
      replyTo: message.replyTo,
    }),
  );
  const first = opened && (await finalizeFirstPart(opened, message, options));
  if (first !== undefined) {
    if (message.parts.length === 1) return first;
    const rest = await send(to, message, { ...options, startAt: 1 });
    return { parts: [...first.parts, ...rest.parts] };
  }
  if (opened !== undefined) await unlessPermanent(removeDraft(opened, draft));
  return nothingToSend;
}

async function finalizeFirstPart(
  draft: Draft,
  message: Outbound,
  { idempotencyKey, onPart }: SendOptions,
): Promise<Receipt | undefined> {
  const [first] = message.parts;
  if (first === undefined) return undefined;
  return unlessPermanent(draft.finalize({ ...message, parts: [first] }, { idempotencyKey, onPart }));
}

async function removeDraft(opened: Draft, { messageId }: DraftReference): Promise<void> {
  // Without an id, an update with the same key returns the message that may exist.
  if (messageId === undefined) await opened.update("…");
  await opened.abort();
}

/** Resolves with `undefined` on a permanent error, and rejects on errors that should be retried. */
async function unlessPermanent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    // If there is a receipt, a part was sent, and the message continues after it.
    if (!isChannelError(error) || error.receipt !== undefined) throw error;
    // Changing a message again is harmless, so an unknown outcome is simply retried.
    if (error.code === "unknown_outcome")
      throw new ChannelError("transient", error.message, { scope: error.scope, cause: error });
    if (!PERMANENT.has(error.code)) throw error;
    return undefined;
  }
}
