import {
  type MediaPart,
  objectAt,
  objectsAt,
  type Payload,
  partKey,
  type Reconciled,
  type SendIntent,
  textAt,
  unlessRefused,
} from "@signalbox/channel";
import { messageId, type SlackAddress } from "../address.ts";
import type { History } from "../history.ts";
import { isOwnMessage, type Self } from "../people.ts";

/** Maximum assumed difference between Slack's clock and ours. */
export const MAX_CLOCK_SKEW_MS = 60_000;
/** Time after the first attempt within which a message can still appear. */
const MAX_DELAY_MS = 3_600_000;

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
): Promise<Reconciled> {
  const { to, content, attemptedAt } = intent;
  const span = { oldest: attemptedAt - MAX_CLOCK_SKEW_MS, latest: attemptedAt + MAX_DELAY_MS };
  const page = await unlessRefused(history.page(to, span, signal), undefined);
  // The bot can write here but not read.
  if (page === undefined) return { outcome: "unknown" };
  if (content.type === "media") {
    const own = page.messages.filter((message) => self === undefined || isOwnMessage(message, self));
    return {
      outcome:
        page.hasMore || own.some((message) => isPossibleMatch(message, content)) ? "unknown" : "not_sent",
    };
  }
  // The key is unique to this message.
  const ts = findTimestamp(page.messages, partKey(intent.idempotencyKey, intent.part));
  if (ts !== undefined) return { outcome: "sent", messageId: messageId({ channel: to.channel, ts }) };
  return { outcome: page.hasMore ? "unknown" : "not_sent" };
}

/** Returns the timestamp of the message with the given key. */
export function findTimestamp(messages: readonly Payload[], key: string): string | undefined {
  const sent = messages.find(
    (message) => textAt(objectAt(objectAt(message, "metadata"), "event_payload"), "key") === key,
  );
  return sent === undefined ? undefined : textAt(sent, "ts");
}

/** Files carry no key. A file of the same name and size may or may not be this one. */
function isPossibleMatch(message: Payload, { name, size }: MediaPart): boolean {
  return objectsAt(message, "files").some((file) => file["name"] === name && file["size"] === size);
}
