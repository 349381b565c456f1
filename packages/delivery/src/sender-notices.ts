import type { ChannelErrorCode } from "@signalbox/channel";
import type { Phrases } from "@signalbox/phrases";
import type { OutboxInsert, OutboxRow } from "./outbox.ts";
import { createOutboxRow, REPLY_TTL_MS } from "./rows.ts";

/** Errors caused by the content of a message. The chat would accept a notice. */
const CONTENT_ERRORS: ReadonlySet<ChannelErrorCode> = new Set(["too_large", "unsupported", "invalid"]);

/**
 * Creates a single notice about all expired answers.
 *
 * @param expired rows with the same destination that a person is waiting for
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

/** Creates a notice about an answer that the platform rejected. Returns none if the chat itself is not writable. */
export function createRejectionNotice(
  rejected: OutboxRow,
  code: ChannelErrorCode | undefined,
  phrases: Phrases,
  now: number,
): OutboxInsert | undefined {
  if (code === undefined || !CONTENT_ERRORS.has(code)) return undefined;
  return createNotice(rejected, phrases.notTaken, now);
}

/** A notice is plain text and not a reply, because the platform may have rejected the formatting or the reply. */
function createNotice(row: OutboxRow, text: string, now: number): OutboxInsert {
  const payload = { parts: [{ type: "text" as const, text }], notice: true };
  return createOutboxRow(row, payload, { expiresAt: now + REPLY_TTL_MS, claim: false });
}
