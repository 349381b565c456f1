import { type AddressCodec, ChannelError } from "@signalbox/channel";

/** A conversation by the id its client gave it. */
export interface WebAddress {
  readonly conversation: string;
}

const prefix = "web:";

/** `web:` and the conversation's id. */
export const addressCodec: AddressCodec<WebAddress> = {
  encode: ({ conversation }) => prefix + conversation,
  decode(text) {
    const conversation = text.startsWith(prefix) ? text.slice(prefix.length) : "";
    if (conversation === "") throw new ChannelError("invalid", "Not an address of the web channel");
    return { conversation };
  },
};
