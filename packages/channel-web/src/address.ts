import { type AddressCodec, ChannelError } from "@signalbox/channel";

/** A conversation, identified by an id from the client. */
export interface WebAddress {
  readonly conversation: string;
}

/** Creates a codec that writes addresses as `<channel>:<conversation>`. */
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
