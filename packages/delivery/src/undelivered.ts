import type { ChannelErrorCode } from "@signalbox/channel";
import type { Phrases } from "@signalbox/phrases";
import type { Millis, OutboxInsert, OutboxRow } from "./outbox.ts";
import { outboxRow, REPLY_TTL_MS } from "./rows.ts";

/** Refusals of what was to be said, not of the chat it was to be said in. */
const OF_THE_CONTENT: ReadonlySet<ChannelErrorCode> = new Set(["too_large", "unsupported", "invalid"]);

/**
 * One notice to people whose answers are too old to be sent, however many there were.
 * @param expired the rows of one destination that a person waits for
 */
export function wordAboutExpired(
  expired: readonly OutboxRow[],
  phrases: Phrases,
  now: Millis,
): OutboxInsert | undefined {
  const [first] = expired;
  if (first === undefined) return undefined;
  return word(first, phrases.expired(expired.length, first.receipts.length > 0), now);
}

/** A word to a person whose answer the platform does not take; none where it takes nothing there at all. */
export function wordAboutDead(
  dead: OutboxRow,
  code: ChannelErrorCode | undefined,
  phrases: Phrases,
  now: Millis,
): OutboxInsert | undefined {
  if (code === undefined || !OF_THE_CONTENT.has(code)) return undefined;
  return word(dead, phrases.notTaken, now);
}

function word(row: OutboxRow, text: string, now: Millis): OutboxInsert {
  const { replyTo } = row.payload;
  const payload = {
    parts: [{ type: "text" as const, text }],
    notice: true,
    ...(replyTo === undefined ? {} : { replyTo }),
  };
  return outboxRow(row, payload, { expiresAt: now + REPLY_TTL_MS, claim: false });
}
