import type { ChannelErrorCode } from "@signalbox/channel";
import type { Millis, OutboxInsert, Undelivered } from "./outbox.ts";
import { destinationKey, outboxRow } from "./rows.ts";

/** How long a word about a reply that did not come is worth saying. */
const WORD_MS = 24 * 60 * 60_000;
/** Refusals of what was to be said, not of the chat it was to be said in. */
const OF_THE_CONTENT: ReadonlySet<ChannelErrorCode> = new Set(["too_large", "unsupported", "invalid"]);

/** Words to people whose answers are too old to be sent: one for each destination, however many there were. */
export function wordsAboutExpired(expired: readonly Undelivered[], now: Millis): readonly OutboxInsert[] {
  const byDestination = Map.groupBy(expired.filter(isAwaited), ({ row }) => destinationKey(row));
  return [...byDestination.values()].flatMap((ended) => {
    const [first] = ended;
    return first === undefined ? [] : [word(first, expiredText(first, ended.length), now)];
  });
}

function expiredText({ row }: Undelivered, count: number): string {
  if (count > 1)
    return `${count} answers could not be delivered in time and are out of date, so I did not send them. Please ask again what you still need to know.`;
  const what = row.receipts.length > 0 ? "The rest of an answer" : "An answer";
  return `${what} could not be delivered in time and is out of date, so I did not send it. Please ask again if you still need it.`;
}

/** A word to a person whose answer the platform does not take; none where it takes nothing there at all. */
export function wordsAboutDead(
  dead: Undelivered,
  code: ChannelErrorCode | undefined,
  now: Millis,
): readonly OutboxInsert[] {
  if (!isAwaited(dead) || code === undefined || !OF_THE_CONTENT.has(code)) return [];
  return [word(dead, "I have an answer, but this chat does not take it. My operator can see why.", now)];
}

/** Whether somebody waits for it: not for a question of ours, nor for a word such as these, which answer no message. */
function isAwaited({ messages }: Undelivered): boolean {
  return messages.length > 0;
}

function word({ row }: Undelivered, text: string, now: Millis): OutboxInsert {
  const { replyTo } = row.payload;
  const payload = {
    parts: [{ type: "text" as const, text }],
    notice: true,
    ...(replyTo === undefined ? {} : { replyTo }),
  };
  return outboxRow(row, payload, { expiresAt: now + WORD_MS, claim: false });
}
