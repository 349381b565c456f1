import {
  catchRefusal,
  getPartKey,
  type MediaPart,
  objectAt,
  objectsAt,
  type Payload,
  type ReconcileResult,
  reconciledFrom,
  type SendIntent,
  sendWindow,
  textAt,
} from "@signalbox/channel";
import { messageId, type SlackAddress } from "../address.ts";
import type { History } from "../history.ts";
import { isOwnMessage, type Self } from "../people.ts";

/**
 * Looks for a message with an unknown outcome by the key in its metadata.
 *
 * @throws ChannelError `rate_limited` if the app may not read now; the outcome stays unknown until then
 */
export async function reconcile(
  history: History,
  self: Self | undefined,
  intent: SendIntent<SlackAddress>,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { to, content } = intent;
  const { start, end } = sendWindow(intent);
  const span = { oldest: start, latest: end };
  const page = await catchRefusal(history.page(to, span, signal), undefined);
  // The bot can write in this conversation but not read it.
  if (page === undefined) return { outcome: "unknown" };
  if (content.type === "media") {
    const own = page.messages.filter((message) => self === undefined || isOwnMessage(message, self));
    return reconciledFrom(
      undefined,
      !page.hasMore && !own.some((message) => isPossibleMatch(message, content)),
    );
  }
  // The key is unique to this message.
  const ts = findTimestamp(page.messages, getPartKey(intent.idempotencyKey, intent.part));
  const found = ts === undefined ? undefined : messageId({ channel: to.channel, ts });
  return reconciledFrom(found, !page.hasMore);
}

/** Returns the timestamp of the message with the given key. */
export function findTimestamp(messages: readonly Payload[], key: string): string | undefined {
  const sent = messages.find(
    (message) => textAt(objectAt(objectAt(message, "metadata"), "event_payload"), "key") === key,
  );
  return sent === undefined ? undefined : textAt(sent, "ts");
}

/** Files have no key. A file with the same name and size may or may not be this one. */
function isPossibleMatch(message: Payload, { name, size }: MediaPart): boolean {
  return objectsAt(message, "files").some((file) => file["name"] === name && file["size"] === size);
}
