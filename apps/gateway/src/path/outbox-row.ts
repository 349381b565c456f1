import { createHash } from "node:crypto";
import type { ChannelDefinition, RateLimit } from "@signalbox/channel";
import type { OutboxInsert, OutboxRow } from "@signalbox/store";
import type { GatewayBodies, StoredOutbound } from "./stored.ts";

/** Whether a doubtful send to this channel can be repeated or looked up, so that a row may be committed as sending. */
export function repeatable({ capabilities: { delivery } }: ChannelDefinition): boolean {
  return delivery.idempotencyKey !== undefined || delivery.readback === true;
}

/** The key of a row that one thing makes once, however often it is tried. */
export function keyOf(...origin: readonly string[]): string {
  return createHash("sha256").update(origin.join(" ")).digest("base64url").slice(0, 20);
}

/** Of rows with keys of their own, those that wait: what was put there before may be on its way or out already. */
export function waiting(rows: readonly OutboxRow<GatewayBodies>[]): readonly OutboxRow<GatewayBodies>[] {
  return rows.filter(({ state }) => state === "pending");
}

/** Where a row goes. */
interface Place {
  readonly channel: string;
  readonly account: string;
  readonly address: string;
}

/** What the outbox keeps of a reply. */
export function outboxRow(
  { channel, account, address }: Place,
  payload: StoredOutbound,
  extra: { readonly expiresAt: number; readonly claim: boolean },
): OutboxInsert<GatewayBodies> {
  return { channel, account, address, payload, partCount: Math.max(1, payload.parts.length), ...extra };
}

/** What a rate of its channel counts for a row. */
export function rateKey(rate: RateLimit, row: Place): string {
  return rate.scope === "account" ? `${row.channel}/${row.account}` : placeOf(row);
}

/** Rows of one place go out one after the other. */
export function placeOf({ channel, account, address }: Place): string {
  return `${channel}/${account}/${address}`;
}
