import {
  createAnswer,
  createOutboxKey,
  createOutboxRow,
  getPendingRows,
  type OutboxRow,
} from "@signalbox/delivery";
import type { GatewayContext } from "../context.ts";
import { isVisible, type QueuedMessage } from "../messages/queued-message.ts";

/**
 * Adds a notice about a message to the outbox if no run answers the message. The key is derived from the message, so
 * repeating this after a crash does not send the notice twice.
 *
 * @param isAnswer whether the notice answers the message
 * @returns the rows to deliver, or undefined if the sender reads the session directly or must not see the notice
 */
export async function putNotice(
  { store, lease, getCapabilities, now }: GatewayContext,
  message: QueuedMessage,
  text: string,
  { ttlMs, isAnswer }: { readonly ttlMs: number; readonly isAnswer: boolean },
): Promise<readonly OutboxRow[] | undefined> {
  if (!isVisible(message)) return undefined;
  const { id, sessionKey, stored } = message;
  const { event } = stored;
  const capabilities = getCapabilities(event.channel, event.account);
  const payload = createAnswer(text, event.messageId, capabilities);
  if (payload === undefined) return undefined;
  const row = createOutboxRow(event, payload, { expiresAt: now() + ttlMs, claim: false });
  const notice = { ...row, key: createOutboxKey(id), answers: isAnswer ? [id] : undefined };
  return getPendingRows(await store.outbox.enqueue([notice], { lease, sessionKey }));
}
