import type { ChannelErrorCode } from "@signalbox/channel";
import type { Phrases } from "@signalbox/phrases";
import type { OutboxInsert, OutboxRow } from "./outbox.ts";
import { createOutboxRow, REPLY_TTL_MS } from "./rows.ts";

/** Errors caused by the content of a message: the chat would accept a notice. */
const CONTENT_ERRORS: ReadonlySet<ChannelErrorCode> = new Set(["too_large", "unsupported", "invalid"]);

/**
 * Creates one notice about answers that expired, however many there are.
 *
 * @param expired rows of one destination that a person waits for
 */
export function createExpiryNotice(
  expired: readonly OutboxRow[],
  phrases: Phrases,
  now: number,
): OutboxInsert | undefined {
  const [first] = expired;
  if (first === undefined) return undefined;
  return createNotice(first, phrases.expired(expired.length, first.receipts.length > 0), now);
}

/** Creates a notice about an answer that may have been sent. */
export function createUncertaintyNotice(uncertain: OutboxRow, phrases: Phrases, now: number): OutboxInsert {
  return createNotice(uncertain, phrases.perhapsSent, now);
}

/** Creates a notice about an answer that the platform rejected; none if the chat itself cannot be written to. */
export function createRejectionNotice(
  rejected: OutboxRow,
  code: ChannelErrorCode | undefined,
  phrases: Phrases,
  now: number,
): OutboxInsert | undefined {
  if (code === undefined || !CONTENT_ERRORS.has(code)) return undefined;
  return createNotice(rejected, phrases.notTaken, now);
}

/** A notice is plain text that replies to nothing: the formatting or the reply may be what the platform rejected. */
function createNotice(row: OutboxRow, text: string, now: number): OutboxInsert {
  const payload = { parts: [{ type: "text" as const, text }], notice: true };
  return createOutboxRow(row, payload, { expiresAt: now + REPLY_TTL_MS, claim: false });
}
