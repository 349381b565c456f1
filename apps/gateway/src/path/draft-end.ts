import {
  type Channel,
  ChannelError,
  isChannelError,
  type Outbound,
  type Receipt,
  type SendOptions,
} from "@signalbox/channel";
import type { DraftRef, StoredOutbound } from "./stored.ts";

/** Refusals that the same again would meet again: the draft cannot become the reply, which is sent by itself. */
const LASTING: ReadonlySet<string> = new Set([
  "permission",
  "not_found",
  "unsupported",
  "invalid",
  "too_large",
]);

/** Sends a message, or the rest of it. */
export type Send = (to: unknown, message: StoredOutbound, how: SendOptions) => Promise<Receipt>;

/** What goes into the outbox for a reply and the draft of its run: a draft without a reply is taken back. */
export function withDraft(
  reply: Outbound | undefined,
  draft: DraftRef | undefined,
): StoredOutbound | undefined {
  if (draft === undefined) return reply;
  return reply === undefined ? { parts: [], draft } : { ...reply, draft };
}

/**
 * Makes the draft the first part of the reply and sends the others, or takes it back where there is no reply. All of
 * it may be done again without a second message.
 *
 * @returns undefined where the draft cannot become the reply; it is taken back as far as that goes
 * @throws ChannelError as `send` does
 */
export async function finishDraft(
  running: Channel,
  to: unknown,
  { draft, ...reply }: StoredOutbound,
  how: SendOptions,
  options: { readonly now: number; readonly send: Send },
): Promise<Receipt | undefined> {
  if (draft === undefined || running.openDraft === undefined) return undefined;
  const { key, messageId, until } = draft;
  // Without an id only the key leads to it, and not for ever.
  if (messageId === undefined && options.now >= until)
    return reply.parts.length === 0 ? { parts: [] } : undefined;
  const { signal, idempotencyKey, onPart } = how;
  const opened = await running
    .openDraft(to, {
      idempotencyKey: key,
      signal,
      ...(messageId === undefined ? {} : { messageId }),
      ...(reply.replyTo === undefined ? {} : { replyTo: reply.replyTo }),
    })
    .catch(throwAgain);
  const finished = await finishFirst();
  if (finished !== undefined) {
    const rest =
      reply.parts.length > 1 ? await options.send(to, reply, { ...how, startAt: 1 }) : { parts: [] };
    return { parts: [...finished.parts, ...rest.parts] };
  }
  try {
    // Where it may be there, it shows by being there again.
    if (messageId === undefined) await opened?.update("…");
    await opened?.abort();
  } catch (error) {
    throwAgain(error);
  }
  return reply.parts.length === 0 ? { parts: [] } : undefined;

  async function finishFirst(): Promise<Receipt | undefined> {
    const [first] = reply.parts;
    if (first === undefined || opened === undefined) return undefined;
    try {
      return await opened.finalize(
        { ...reply, parts: [first] },
        { idempotencyKey, ...(onPart === undefined ? {} : { onPart }) },
      );
    } catch (error) {
      return throwAgain(error);
    }
  }
}

/** Throws what is worth another try. */
function throwAgain(error: unknown): undefined {
  // Where a part is out, the reply goes on from there.
  if (!isChannelError(error) || error.receipt !== undefined) throw error;
  if (error.code === "unknown_outcome")
    throw new ChannelError("transient", error.message, { scope: error.scope, cause: error });
  if (!LASTING.has(error.code)) throw error;
}
