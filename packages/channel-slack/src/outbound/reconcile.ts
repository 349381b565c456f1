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
import { isOwn, type Self } from "../people.ts";

/** How far Slack's clock may be from ours. */
export const skewMs = 60_000;
/** How long after its first try a message may still have come out. */
const latestMs = 3_600_000;

/**
 * Looks for a message whose outcome is open by the key in its metadata.
 *
 * @throws ChannelError `rate_limited` where the app may not read now: it stays open until then
 */
export async function reconcile(
  history: History,
  self: Self | undefined,
  intent: SendIntent<SlackAddress>,
  signal: AbortSignal,
): Promise<Reconciled> {
  const { to, content, attemptedAt } = intent;
  const span = { oldest: attemptedAt - skewMs, latest: attemptedAt + latestMs };
  const page = await unlessRefused(history.page(to, span, signal), undefined);
  // Where the bot may send and not read, nobody can say.
  if (page === undefined) return { outcome: "unknown" };
  if (content.type === "media") {
    const own = page.messages.filter((message) => self === undefined || isOwn(message, self));
    return {
      outcome: page.hasMore || own.some((message) => mayBe(message, content)) ? "unknown" : "not-sent",
    };
  }
  // Nobody else knows the key.
  const ts = timestampOf(page.messages, partKey(intent.idempotencyKey, intent.part));
  if (ts !== undefined) return { outcome: "sent", messageId: messageId({ channel: to.channel, ts }) };
  return { outcome: page.hasMore ? "unknown" : "not-sent" };
}

/** The timestamp of the message that carries a key. */
export function timestampOf(messages: readonly Payload[], key: string): string | undefined {
  const sent = messages.find(
    (message) => textAt(objectAt(objectAt(message, "metadata"), "event_payload"), "key") === key,
  );
  return sent === undefined ? undefined : textAt(sent, "ts");
}

/** A file comes without a key: one of the same name and size may be this one, or another. */
function mayBe(message: Payload, { name, size }: MediaPart): boolean {
  return objectsAt(message, "files").some((file) => file["name"] === name && file["size"] === size);
}
