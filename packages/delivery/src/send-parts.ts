import {
  type Channel,
  type ChannelErrorCode,
  isChannelError,
  type Outbound,
  type PartReceipt,
  type Receipt,
  type SendOptions,
} from "@signalbox/channel";
import type { Phrases } from "@signalbox/phrases";
import type { DeliveryLogger } from "./logger.ts";

/** Refusals of an attachment that the same again would meet again. */
const REFUSED: ReadonlySet<ChannelErrorCode> = new Set([
  "too_large",
  "unsupported",
  "invalid",
  "not_found",
  "permission",
]);

export interface MediaFallback {
  readonly logger: DeliveryLogger;
  /** The words for whoever reads the message. */
  readonly phrases: () => Promise<Phrases>;
  /** As `PartDeadlines.giveUp`. */
  giveUp(index: number): AbortSignal | undefined;
}

/**
 * Sends the parts of a message. An attachment that the platform refuses for good, or that is given up, becomes a line
 * that says so, and the rest follows.
 * @throws ChannelError as the channel's `send`
 */
export async function sendParts(
  channel: Channel,
  to: unknown,
  message: Outbound,
  options: SendOptions,
  { logger, phrases, giveUp }: MediaFallback,
): Promise<Receipt> {
  const sent: PartReceipt[] = [];
  let { parts } = message;
  let { startAt = 0, signal } = options;
  for (;;) {
    try {
      const receipt = await channel.send(to, { ...message, parts }, { ...options, signal, startAt });
      return { parts: [...sent, ...receipt.parts] };
    } catch (error) {
      if (!isChannelError(error)) throw error;
      const before = error.receipt?.parts ?? [];
      const failed = (before.at(-1)?.index ?? startAt - 1) + 1;
      const part = parts[failed];
      if (part?.type !== "media") throw error;
      const refused = REFUSED.has(error.code);
      const next = refused ? signal : error.code === "transient" ? giveUp(failed) : undefined;
      if (next === undefined) throw error;
      logger.error(
        { name: part.name, err: error.message },
        refused ? "an attachment was refused" : "an attachment could not be uploaded",
      );
      sent.push(...before);
      const { fileNotSent, whyNotSent } = await phrases();
      const why = whyNotSent[refused ? "refused" : "givenUp"];
      parts = parts.with(failed, { type: "text", text: fileNotSent(part.name, why) });
      startAt = failed;
      signal = next;
    }
  }
}
