import { type AddressCodec, createAddressCodec, type Payload, textAt } from "@signalbox/channel";

/** Where an answer goes. Threads, posts of forums and direct conversations are channels of their own. */
export interface DiscordAddress {
  readonly channelId: string;
  /** The command that is answered. */
  readonly interactionId?: string;
}

/** `discord:<channel>` or `discord:<channel>/<interaction>`. */
export const addressCodec: AddressCodec<DiscordAddress> = createAddressCodec("discord", "Discord", {
  write: ({ channelId, interactionId }) => [channelId, interactionId],
  read([channelId, interactionId]) {
    if (!isSnowflake(channelId)) return undefined;
    if (interactionId === undefined) return { channelId };
    return isSnowflake(interactionId) ? { channelId, interactionId } : undefined;
  },
});

/** Whether a text is one of Discord's ids. */
export function isSnowflake(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,20}$/.test(text);
}

/** The id under `key`; undefined for what is none. */
export function idAt(payload: Payload, key: string): string | undefined {
  const text = textAt(payload, key);
  return isSnowflake(text) ? text : undefined;
}

const epoch = 1_420_070_400_000;

/** The first id of a moment, in milliseconds since the epoch: ids rise with time. */
export function snowflakeAt(ms: number): string {
  return String(BigInt(Math.max(0, Math.floor(ms) - epoch)) << 22n);
}

/** When an id was given, in milliseconds since the epoch; undefined for what is none. */
export function timeOf(id: string): number | undefined {
  return isSnowflake(id) ? Number(BigInt(id) >> 22n) + epoch : undefined;
}
