import { type AddressCodec, ChannelError } from "@signalbox/channel";

/** A conversation by the id its client gave it. */
export interface WebAddress {
  readonly conversation: string;
}

/** Writes an address as the channel's id, a colon and the conversation's id. */
export function createAddressCodec(channel: string): AddressCodec<WebAddress> {
  const prefix = `${channel}:`;
  return {
    encode: ({ conversation }) => prefix + conversation,
    decode(text) {
      const conversation = text.startsWith(prefix) ? text.slice(prefix.length) : "";
      if (conversation === "") throw new ChannelError("invalid", `Not an address of the channel ${channel}`);
      return { conversation };
    },
  };
}
