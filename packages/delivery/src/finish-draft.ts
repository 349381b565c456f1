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
import type { DeliveryMessage, DraftReference, Millis } from "./outbox.ts";

/** Refusals that the same again would meet again: the draft cannot become the message, which is sent by itself. */
const LASTING: ReadonlySet<ChannelErrorCode> = new Set([
  "permission",
  "not_found",
  "unsupported",
  "invalid",
  "too_large",
]);

/** Sends a message, or the rest of it. */
export type Send = (to: unknown, message: Outbound, options: SendOptions) => Promise<Receipt>;

/** What goes into the outbox for a reply and the draft of its run: a draft without a reply is taken back. */
export function withDraft(
  reply: Outbound | undefined,
  draft: DraftReference | undefined,
): DeliveryMessage | undefined {
  if (draft === undefined) return reply;
  return reply === undefined ? { parts: [], draft } : { ...reply, draft };
}

/**
 * Makes the draft the first part of the message and sends the others, or takes it back if there is no message. It can
 * be repeated without a second message.
 * @returns undefined if the draft cannot become the message; it is then taken back if possible
 * @throws ChannelError as `send` does
 */
export async function finishDraft(
  running: Channel,
  to: unknown,
  { draft, ...message }: DeliveryMessage,
  options: SendOptions,
  { now, send }: { readonly now: Millis; readonly send: Send },
): Promise<Receipt | undefined> {
  if (draft === undefined || running.openDraft === undefined) return undefined;
  const nothingToSend = message.parts.length === 0 ? { parts: [] } : undefined;
  // Without an id only the key leads to it, and not for ever.
  if (draft.messageId === undefined && now >= draft.until) return nothingToSend;
  const opened = await unlessLasting(
    running.openDraft(to, {
      idempotencyKey: draft.key,
      signal: options.signal,
      ...(draft.messageId === undefined ? {} : { messageId: draft.messageId }),
      ...(message.replyTo === undefined ? {} : { replyTo: message.replyTo }),
    }),
  );
  const first = opened && (await finalizeFirstPart(opened, message, options));
  if (first !== undefined) {
    if (message.parts.length === 1) return first;
    const rest = await send(to, message, { ...options, startAt: 1 });
    return { parts: [...first.parts, ...rest.parts] };
  }
  if (opened !== undefined) await unlessLasting(takeBack(opened, draft));
  return nothingToSend;
}

async function finalizeFirstPart(
  draft: Draft,
  message: Outbound,
  { idempotencyKey, onPart }: SendOptions,
): Promise<Receipt | undefined> {
  const [first] = message.parts;
  if (first === undefined) return undefined;
  return unlessLasting(
    draft.finalize(
      { ...message, parts: [first] },
      { idempotencyKey, ...(onPart === undefined ? {} : { onPart }) },
    ),
  );
}

async function takeBack(opened: Draft, { messageId }: DraftReference): Promise<void> {
  // One that may be there shows by being there again.
  if (messageId === undefined) await opened.update("…");
  await opened.abort();
}

/** Resolves with undefined where the platform refuses for good, and rejects with what is worth another try. */
async function unlessLasting<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    // Where a part is out, the message goes on from there.
    if (!isChannelError(error) || error.receipt !== undefined) throw error;
    // To change a message again is harmless, so nothing is doubtful.
    if (error.code === "unknown_outcome")
      throw new ChannelError("transient", error.message, { scope: error.scope, cause: error });
    if (!LASTING.has(error.code)) throw error;
    return undefined;
  }
}
