import { hash } from "node:crypto";
import type { InboxAccept } from "./types/inbox.ts";

/** A message's deduplication key and a 53-bit hash of it for the index. */
export interface DedupeKey {
  readonly hash: number;
  readonly kind: "event" | "message";
  readonly channel: string;
  readonly account: string;
  readonly id: string;
}

export function dedupeKey(kind: DedupeKey["kind"], channel: string, account: string, id: string): DedupeKey {
  const digest = hash("sha256", `${kind}\0${channel}\0${account}\0${id}`, "hex");
  const number = parseInt(digest.slice(0, 12), 16) * 32 + (parseInt(digest.slice(12, 14), 16) & 31);
  return { hash: number, kind, channel, account, id };
}

/** Returns the deduplication keys that identify repeated deliveries of an event. */
export function getDedupeKeys({
  channel,
  account,
  eventId,
  messageId,
  kind,
}: InboxAccept): readonly DedupeKey[] {
  const event = dedupeKey("event", channel, account, eventId);
  if (kind !== "message" || messageId === undefined) return [event];
  return [event, dedupeKey("message", channel, account, messageId)];
}
