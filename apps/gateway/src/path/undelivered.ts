import type { ChannelErrorCode } from "@signalbox/channel";
import type { OutboxInsert, Undelivered } from "@signalbox/store";
import { outboxRow, placeOf } from "./outbox-row.ts";
import type { GatewayBodies } from "./stored.ts";

type Ended = Undelivered<GatewayBodies>;
type Insert = OutboxInsert<GatewayBodies>;

/** How long a word about a reply that did not come is worth saying. */
const WORD_MS = 24 * 60 * 60_000;
/** Refusals of what was to be said, not of the chat it was to be said in. */
const OF_THE_CONTENT: readonly ChannelErrorCode[] = ["too_large", "unsupported", "invalid"];

/** Words to people whose answers are too old to be sent: one for each place, however many there were. */
export function wordsAboutExpired(expired: readonly Ended[], now: number): readonly Insert[] {
  const places = new Map<string, Ended[]>();
  for (const ended of expired)
    if (isAnswer(ended)) places.set(placeOf(ended.row), [...(places.get(placeOf(ended.row)) ?? []), ended]);
  return [...places.values()].flatMap(([first, ...more]) => {
    if (first === undefined) return [];
    if (more.length > 0)
      return word(
        first,
        `${more.length + 1} answers could not be delivered in time and are out of date, so I did not send them. Please ask again what you still need to know.`,
        now,
      );
    const what = first.row.receipts.length > 0 ? "The rest of an answer" : "An answer";
    return word(
      first,
      `${what} could not be delivered in time and is out of date, so I did not send it. Please ask again if you still need it.`,
      now,
    );
  });
}

/** A word to a person whose answer the platform does not take; none where it takes nothing there at all. */
export function wordAboutDead(
  dead: Ended,
  code: ChannelErrorCode | undefined,
  now: number,
): readonly Insert[] {
  if (!isAnswer(dead) || code === undefined || !OF_THE_CONTENT.includes(code)) return [];
  return word(dead, "I have an answer, but this chat does not take it. My operator can see why.", now);
}

/** Whether somebody waits for it: not for a question of ours, nor for a word such as these, which answer no message. */
function isAnswer({ messages }: Ended): boolean {
  return messages.length > 0;
}

function word({ row }: Ended, text: string, now: number): readonly Insert[] {
  const { replyTo } = row.payload;
  const payload = {
    parts: [{ type: "text" as const, text }],
    notice: true,
    ...(replyTo === undefined ? {} : { replyTo }),
  };
  return [outboxRow(row, payload, { expiresAt: now + WORD_MS, claim: false })];
}
