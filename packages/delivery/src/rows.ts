import { createHash } from "node:crypto";
import {
  type Capabilities,
  type ChannelDefinition,
  createOutbound,
  type MediaPart,
  type Outbound,
} from "@signalbox/channel";
import type { DeliveryMessage, Destination, OutboxInsert, OutboxRow } from "./outbox.ts";

/** Lifetime of an unsent message in milliseconds. After that, it is reported as expired. */
export const REPLY_TTL_MS: number = 24 * 60 * 60_000;

type Deliverable = Pick<ChannelDefinition, "capabilities">;

/** Returns true if a send with an unknown outcome can be repeated or looked up on this channel. */
export function isRepeatable({ capabilities: { delivery } }: Deliverable): boolean {
  return delivery.idempotencyKey !== undefined || (delivery.readback ?? false) !== false;
}

/**
 * Returns true if that is also possible after a crash, even if it is unknown whether sending was attempted. Only then
 * may a row be inserted with `claim`.
 */
export function isRepeatableAfterCrash({ capabilities: { delivery } }: Deliverable): boolean {
  return delivery.idempotencyKey !== undefined || delivery.readback === true;
}

/** Derives the key of a row from its origin, so that a repeated attempt inserts the same row. */
export function createOutboxKey(...origin: readonly string[]): string {
  return createHash("sha256").update(origin.join(" ")).digest("base64url").slice(0, 20);
}

/**
 * Creates the row for a message.
 *
 * @param options.expiresAt after this time the message is not sent; milliseconds since the epoch
 * @param options.claim inserts the row as `sending`, if {@link isRepeatableAfterCrash} holds for the channel
 */
export function createOutboxRow(
  { channel, account, address }: Destination,
  payload: DeliveryMessage,
  options: { readonly expiresAt: number; readonly claim: boolean },
): OutboxInsert {
  return { channel, account, address, payload, partCount: Math.max(1, payload.parts.length), ...options };
}

/**
 * Creates the answer to a message, split for the channel. Without capabilities (the account is no longer configured)
 * the answer remains a single part, which will end as undeliverable.
 *
 * @returns `undefined` if the sender's client reads the conversation directly
 */
export function createAnswer(
  text: string,
  replyTo: string,
  capabilities: Capabilities | undefined,
  attachments: readonly MediaPart[] = [],
): Outbound | undefined {
  if (capabilities?.readsSession === true) return undefined;
  return capabilities === undefined
    ? { parts: [{ type: "text", text }], replyTo: replyTo === "" ? undefined : replyTo }
    : createOutbound(text, replyTo, capabilities, attachments);
}

/** Returns the rows to hand over for sending. Rows that already existed may have been sent. */
export function getPendingRows<Row extends Pick<OutboxRow, "state">>(rows: readonly Row[]): readonly Row[] {
  return rows.filter(({ state }) => state === "pending");
}

/** Returns true if a row is waiting to be sent or is being sent. */
export function isUnsent({ state }: OutboxRow): boolean {
  return state === "pending" || state === "sending";
}

/** Returns a text that identifies a destination. */
export function getDestinationKey({ channel, account, address }: Destination): string {
  return `${channel}/${account}/${address}`;
}
