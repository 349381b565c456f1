import { createHash } from "node:crypto";
import {
  type Capabilities,
  type ChannelDefinition,
  createOutbound,
  type MediaPart,
  type Outbound,
} from "@signalbox/channel";
import type { DeliveryMessage, Destination, Millis, OutboxInsert, OutboxRow } from "./outbox.ts";

/** How long a message to people is worth sending, in milliseconds: later than that it is reported instead. */
export const REPLY_TTL_MS: number = 24 * 60 * 60_000;

/** Whether a doubtful send to this channel can be repeated or looked up, so that a row may be inserted as `sending`. */
export function isRepeatable({
  capabilities: { delivery },
}: Pick<ChannelDefinition, "capabilities">): boolean {
  return delivery.idempotencyKey !== undefined || delivery.readback === true;
}

/** The key of a row that its origin makes once, however often it is tried. */
export function outboxKey(...origin: readonly string[]): string {
  return createHash("sha256").update(origin.join(" ")).digest("base64url").slice(0, 20);
}

/** The row for a message. */
export function outboxRow(
  { channel, account, address }: Destination,
  payload: DeliveryMessage,
  extra: { readonly expiresAt: Millis; readonly claim: boolean },
): OutboxInsert {
  return { channel, account, address, payload, partCount: Math.max(1, payload.parts.length), ...extra };
}

/**
 * The answer to a message as the outbox keeps it; `undefined` where the sender reads the conversation itself. For an
 * account that is not configured any more it stays in one piece: it is to be seen among the replies that did not go
 * out.
 */
export function answerTo(
  text: string,
  replyTo: string,
  capabilities: Capabilities | undefined,
  attached: readonly MediaPart[] = [],
): Outbound | undefined {
  if (capabilities?.readsSession === true) return undefined;
  return capabilities === undefined
    ? { parts: [{ type: "text", text }], ...(replyTo === "" ? {} : { replyTo }) }
    : createOutbound(text, replyTo, capabilities, attached);
}

/** Of rows with keys of their own, those to hand over: what was added before may be on its way or out already. */
export function pendingRows<Row extends OutboxRow>(rows: readonly Row[]): readonly Row[] {
  return rows.filter(({ state }) => state === "pending");
}

/** Whether it waits to be sent, or is being sent. */
export function isUnsent({ state }: OutboxRow): boolean {
  return state === "pending" || state === "sending";
}

/** Names a destination. */
export function destinationKey({ channel, account, address }: Destination): string {
  return `${channel}/${account}/${address}`;
}
