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
import type { Logger } from "@signalbox/store/types";

/** Errors that would recur if the same attachment were uploaded again. */
const PERMANENT: ReadonlySet<ChannelErrorCode> = new Set([
  "too_large",
  "unsupported",
  "invalid",
  "not_found",
  "permission",
]);

export interface MediaFallback {
  readonly logger: Pick<Logger, "error">;
  /** Returns the phrases for the reader of the message. */
  readonly phrases: () => Promise<Phrases>;
  /** See `PartDeadlines.giveUp`. */
  giveUp(index: number): AbortSignal | undefined;
}

/**
 * Sends the parts of a message. If the platform rejects an attachment, or if it failed too often, a text with the file
 * name replaces it, and the parts after it are sent.
 *
 * @throws ChannelError from the channel's `send`
 */
export async function sendWithMediaFallback(
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
      const isRejected = PERMANENT.has(error.code);
      const next = isRejected ? signal : error.code === "transient" ? giveUp(failed) : undefined;
      if (next === undefined) throw error;
      logger.error(
        { name: part.name, err: error.message },
        isRejected ? "the platform rejected an attachment" : "an attachment could not be uploaded",
      );
      sent.push(...before);
      const { fileNotSent, whyNotSent } = await phrases();
      const reason = whyNotSent[isRejected ? "refused" : "givenUp"];
      parts = parts.with(failed, { type: "text", text: fileNotSent(part.name, reason) });
      startAt = failed;
      signal = next;
    }
  }
}
