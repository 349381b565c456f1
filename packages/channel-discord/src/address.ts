import { type AddressCodec, createAddressCodec, type Payload, textAt } from "@signalbox/channel";

/** Destination of a message. Threads, forum posts and direct conversations are separate channels. */
export interface DiscordAddress {
  readonly channelId: string;
  /** The id of the interaction of the command to respond to. */
  readonly interactionId?: string;
}

/** Writes addresses as `discord:<channel>` or `discord:<channel>/<interaction>`. */
export const addressCodec: AddressCodec<DiscordAddress> = createAddressCodec("discord", "Discord", {
  write: ({ channelId, interactionId }) => [channelId, interactionId],
  read([channelId, interactionId]) {
    if (!isSnowflake(channelId)) return undefined;
    if (interactionId === undefined) return { channelId };
    return isSnowflake(interactionId) ? { channelId, interactionId } : undefined;
  },
});

/** Returns true if a text is a Discord id. */
export function isSnowflake(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,20}$/.test(text);
}

/** Returns the id at `key`, or `undefined` if there is no valid one. */
export function idAt(payload: Payload, key: string): string | undefined {
  const text = textAt(payload, key);
  return isSnowflake(text) ? text : undefined;
}

const epoch = 1_420_070_400_000;

/** Returns the lowest id for a time in milliseconds since the epoch. Ids increase over time. */
export function snowflakeAt(ms: number): string {
  return String(BigInt(Math.max(0, Math.floor(ms) - epoch)) << 22n);
}

/**
 * Returns the creation time of an id in milliseconds since the epoch, or `undefined` if the id is invalid.
 */
export function getSnowflakeTime(id: string): number | undefined {
  return isSnowflake(id) ? Number(BigInt(id) >> 22n) + epoch : undefined;
}
