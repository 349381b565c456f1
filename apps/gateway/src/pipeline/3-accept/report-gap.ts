import { isPayload, type LifecycleEvent } from "@signalbox/channel";
import type { Phrases } from "@signalbox/phrases";
import type { GatewayContext } from "../../context.ts";

const HOUR_MS = 3_600_000;

/**
 * Reports that an account may have missed messages, because its platform does not store messages that it has delivered.
 * Owners receive a message at most once an hour per account.
 */
export async function reportGap(
  { delivery, logger, now }: GatewayContext,
  { channel, account, detail }: LifecycleEvent,
): Promise<"accepted"> {
  const { from, to } = isPayload(detail) ? detail : {};
  const gap = { from: isoTime(from, now()), to: isoTime(to, now()) };
  logger.warn({ channel, account, ...gap }, "an account may have missed messages");
  const place = `${channel}/${account}`;
  const hour = String(Math.floor(now() / HOUR_MS));
  await delivery.ownerNotices.send(
    ({ missed }: Phrases) => missed({ place, ...gap }),
    `gap ${place} ${hour}`,
  );
  return "accepted";
}

/** Validates a time, because a channel's process is not trusted to send a valid one. */
function isoTime(time: unknown, otherwise: number): string {
  const date = new Date(typeof time === "number" ? time : otherwise);
  return Number.isNaN(date.getTime()) ? new Date(otherwise).toISOString() : date.toISOString();
}
